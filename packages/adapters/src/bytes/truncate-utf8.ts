const encoder = new TextEncoder();

/** The longest beginning of a text that fits into this many bytes of UTF-8, as well-formed text. */
export function truncateUtf8(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  if (whole.length * 3 <= bytes) return whole;
  return whole.slice(0, encoder.encodeInto(whole, new Uint8Array(bytes)).read);
}
