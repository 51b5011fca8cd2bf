/** What one call takes at most (src/domain/limits.ts): pieces, and bytes of their JSON. */
const PIECES = 1000;
const BYTES = 16 * 1024 * 1024;

const encoder = new TextEncoder();

/** The pieces in their order, in as few calls as their JSON allows. One that is larger than that goes alone. */
export function* batchesBySize<T>(
  pieces: readonly T[],
  jsonOf: (piece: T) => unknown = (piece) => piece,
): Generator<T[], void> {
  let batch: T[] = [];
  let size = 0;
  for (const piece of pieces) {
    // With the comma behind it.
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
