/** The start of a text that takes at most so many bytes of UTF-8, as Cairn takes texts: no U+0000, no half of a pair. */
export function cutToBytes(text: string, most: number): string {
  const whole = text.toWellFormed().replaceAll("\0", "\ufffd");
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(most));
  return whole.slice(0, read);
}
