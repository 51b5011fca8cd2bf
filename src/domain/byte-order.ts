/** Compares two texts by their bytes in UTF-8, as SQLite does: that is by their code points, not by UTF-16 code units. */
export function inByteOrder(a: string, b: string): number {
  const others = b[Symbol.iterator]();
  for (const one of a) {
    const { value: other, done } = others.next();
    if (done) return 1;
    if (one !== other) return (one.codePointAt(0) ?? 0) - (other.codePointAt(0) ?? 0);
  }
  return others.next().done ? 0 : -1;
}
