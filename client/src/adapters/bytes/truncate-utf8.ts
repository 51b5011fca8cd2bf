const encoder = new TextEncoder();

/** As much of the beginning of a text as these bytes of UTF-8 hold: no character is cut in two, and none is half a pair. */
export function truncateUtf8(text: string, bytes: number): string {
  const whole = text.toWellFormed();
  if (whole.length * 3 <= bytes) return whole;
  return whole.slice(0, encoder.encodeInto(whole, new Uint8Array(bytes)).read);
}
