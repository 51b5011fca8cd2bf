import type { CompactionRange, Order } from "../../../src/contract/user-memory.ts";
import type { Segment, SeqRange } from "../core/position.ts";

/** A stretch that one thread owns, or a summary that stands for one. */
export type Span = Segment | CompactionRange;

/** A part of a view, before the owners of its messages are known: a range of seqs, or a summary. */
type Part = SeqRange | CompactionRange;

/**
 * A thread's messages as stretches that can be read, and the summaries that stand for the others, between two seqs.
 * `segments` and `summaries` are in the order that is asked for, and read as far as the spans are.
 */
export function* spans(
  segments: Iterable<Segment>,
  summaries: readonly CompactionRange[],
  { order, within }: { order: Order; within: SeqRange },
): Generator<Span, void> {
  const newest = order === "newest";
  const owners = segments[Symbol.iterator]();
  let owner = owners.next();
  for (const part of parts(summaries, { order, within })) {
    if ("id" in part) {
      yield part;
      continue;
    }
    const [from, to] = part;
    // Parts and owners run in one direction, so none is needed twice.
    for (; owner.done !== true; owner = owners.next()) {
      const { value } = owner;
      if (newest ? value.to < from : value.from > to) break;
      const common = { n: value.n, from: Math.max(value.from, from), to: Math.min(value.to, to) };
      if (common.from <= common.to) yield common;
      if (newest ? value.from <= from : value.to >= to) break;
    }
  }
}

/** The seqs between two, cut where a summary stands for some of them. A summary is placed where its range ends. */
function* parts(
  summaries: readonly CompactionRange[],
  { order, within: [first, last] }: { order: Order; within: SeqRange },
): Generator<Part, void> {
  let [from, to] = [first, last];
  for (const summary of summaries) {
    const placed = summary.to >= first && summary.to <= last;
    if (order === "newest") {
      yield [Math.max(from, summary.to + 1), to];
      to = Math.min(to, summary.from - 1);
    } else {
      yield [from, Math.min(to, summary.from - 1)];
      from = Math.max(from, summary.to + 1);
    }
    if (placed) yield summary;
  }
  yield [from, to];
}
