import type { ExtractKind } from "../schema/ingest.ts";

/** The messages behind one seq up to another, of which some kinds are to be extracted. */
export type Range = { kinds: ExtractKind[]; after: number; to: number };
/** Messages of which some kinds could not be extracted. */
export type FailedRange = Range & { why: string };

/** Ranges of a thread at most. Of more, the first two that failed alike become one, with the messages between. */
const MOST = 500;

/** The ranges with another one, which continues the one before it if both failed alike. */
export function withRange(ranges: readonly FailedRange[], range: FailedRange): FailedRange[] {
  const all = [...ranges, range].toSorted((a, b) => a.after - b.after);
  for (let i = 1; i < all.length; i++) {
    const [one, next] = [all[i - 1], all[i]];
    if (one === undefined || next === undefined) break;
    const areAlike = one.why === next.why && String(one.kinds) === String(next.kinds);
    if (areAlike && (next.after <= one.to || all.length > MOST))
      all.splice(--i, 2, { ...one, to: Math.max(one.to, next.to) });
  }
  return all;
}

/** The ranges without the kinds and messages of another. */
export function without<T extends Range>(ranges: readonly T[], { kinds, after, to }: Range): T[] {
  return ranges.flatMap((range) => {
    if (range.to <= after || range.after >= to) return [range];
    return [
      { ...range, kinds: range.kinds.filter((kind) => !kinds.includes(kind)) },
      {
        ...range,
        kinds: range.kinds.filter((kind) => kinds.includes(kind)),
        to: Math.max(range.after, after),
      },
      { ...range, kinds: range.kinds.filter((kind) => kinds.includes(kind)), after: Math.min(range.to, to) },
    ].filter((rest) => rest.kinds.length > 0 && rest.after < rest.to);
  });
}

/** The parts of ranges that are of these kinds (all unless set), up to a seq. */
export function within<T extends Range>(
  ranges: readonly T[],
  { kinds, upTo = Infinity }: { kinds?: readonly ExtractKind[]; upTo?: number },
): T[] {
  return ranges
    .map((range) => ({
      ...range,
      kinds: range.kinds.filter((kind) => kinds?.includes(kind) ?? true),
      to: Math.min(range.to, upTo),
    }))
    .filter((range) => range.kinds.length > 0 && range.after < range.to);
}
