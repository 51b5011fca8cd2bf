type Placed = { seq: number; compaction?: object | undefined };

/**
 * The last messages of a thread, without up to half of them, so that the first one stays for several turns. A provider's
 * cache holds a prompt only while its beginning stays. The window begins at the seq that the highest power of two divides.
 * Summaries stay.
 */
export function steadyWindow<M extends Placed>(messages: readonly M[]): M[] {
  const turns = messages.filter(({ compaction }) => compaction === undefined);
  const first = turns.at(0)?.seq ?? 0;
  const start = roundestIn(first, turns.at(Math.floor(turns.length / 2))?.seq ?? first);
  return messages.filter(({ seq, compaction }) => compaction !== undefined || seq >= start);
}

/** The number from `from` to `to` that the highest power of two divides. */
function roundestIn(from: number, to: number): number {
  let roundest = from;
  for (let power = 1; power <= to; power *= 2) {
    const multiple = Math.ceil(from / power) * power;
    if (multiple <= to) roundest = multiple;
  }
  return roundest;
}
