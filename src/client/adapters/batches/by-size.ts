/** What one call takes at most (src/limits.ts): pieces, and a body of 16 MiB, in characters of up to three bytes. */
const PIECES = 1000;
const CHARACTERS = 5 * 1024 * 1024;

/** The pieces in their order, in as few calls as their JSON allows. One that is larger than that goes alone. */
export function* bySize<T>(pieces: readonly T[]): Generator<T[], void> {
  let batch: T[] = [];
  let size = 0;
  for (const piece of pieces) {
    const { length } = JSON.stringify(piece);
    if (batch.length === PIECES || (batch.length > 0 && size + length > CHARACTERS)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(piece);
    size += length;
  }
  if (batch.length > 0) yield batch;
}
