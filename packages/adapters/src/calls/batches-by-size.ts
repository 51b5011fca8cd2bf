/** Limits of one call (src/domain/limits.ts): pieces, and bytes of their JSON. */
const PIECES = 1000;
const BYTES = 16 * 1024 * 1024;

const encoder = new TextEncoder();

/** Groups pieces in order into the fewest calls that fit. A piece over the limit goes alone. */
export function* batchesBySize<T>(
  pieces: readonly T[],
  jsonOf: (piece: T) => unknown = (piece) => piece,
): Generator<T[], void> {
  let batch: T[] = [];
  let size = 0;
  for (const piece of pieces) {
    // Includes the comma.
    const more = encoder.encode(JSON.stringify(jsonOf(piece))).byteLength + 1;
    if (batch.length === PIECES || (batch.length > 0 && size + more > BYTES)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(piece);
    size += more;
  }
  if (batch.length > 0) yield batch;
}
