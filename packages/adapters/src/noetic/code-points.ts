/** Compares by code points, like bytes of UTF-8; UTF-16 order puts surrogates too early. */
export function byCodePoints(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    const difference = rank(a.charCodeAt(i)) - rank(b.charCodeAt(i));
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}

const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);
