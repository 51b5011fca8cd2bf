import { type FailedRange, withRange, within, without } from "../../../src/domain/ingest/ranges.ts";
import type { IngestRequest } from "../../../src/contract/user-memory.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { Extent, IngestStore, Marks } from "./ingest-store.ts";

type Stores = { store: IngestStore; stores: Pick<ThreadStores, "threads"> };
/** The marks up to which a thread is extracted, the ranges that an ingest takes over, and those that stay failed. */
export type Taken = { began: Marks; owned: FailedRange[]; failed: FailedRange[] };

/** Why a range is extracted anew: other names were the owner's. */
const OWNERS = "owners";

/**
 * Returns the marks of the thread, the ranges that this ingest takes over (`owned`) as other names are the owner's, and those that stay
 * failed. A fork keeps the failed ones of its origin.
 */
export function takeOver(
  deps: Stores,
  thread: StoredThread,
  { kinds, ownersChanged }: { kinds: IngestRequest["kinds"]; ownersChanged: boolean },
): Taken {
  const { store } = deps;
  const { marks, failed: before } = extentOf(deps, thread);
  const noted = ownersChanged ? ofOthersBefore(before, marks) : before;
  const owned = within(noted, { kinds }).filter(({ why }) => why === OWNERS);
  const failed = withoutAll(noted, owned);
  if (ownersChanged || owned.length > 0 || (failed.length > 0 && store.extent(thread.n) === null))
    store.reach(thread.n, { marks, failed });
  return { began: marks, owned, failed };
}

/** A fork shares messages, and how far they are extracted. */
function extentOf({ store, stores }: Stores, { n, forkedFrom, forkSeq }: StoredThread): Extent {
  const own = store.extent(n);
  if (own !== null) return own;
  const origin = forkedFrom && stores.threads.get(forkedFrom.threadId);
  if (!origin) return { marks: { facts: 0, episodes: 0, procedures: 0 }, failed: [] };
  const { marks, failed } = extentOf({ store, stores }, origin);
  const upTo = (seq: number) => Math.min(seq, forkSeq);
  return {
    marks: { facts: upTo(marks.facts), episodes: upTo(marks.episodes), procedures: upTo(marks.procedures) },
    failed: within(failed, { upTo: forkSeq }),
  };
}

/** The messages to extract again, as they say something else now. An episode is of a session, and stays. */
export function changedIn(changed: readonly number[], request: IngestRequest): FailedRange[] {
  const kinds = request.kinds.filter((kind) => kind !== "episodes");
  if (kinds.length === 0) return [];
  return changed.reduce<FailedRange[]>(
    (ranges, seq) => withRange(ranges, { kinds, after: seq - 1, to: seq, why: "changed" }),
    [],
  );
}

export const withoutAll = (ranges: readonly FailedRange[], gone: readonly FailedRange[]): FailedRange[] =>
  gone.reduce<FailedRange[]>((left, one) => without(left, one), [...ranges]);

/**
 * The ranges with what was extracted while other names were the owner's: the next ingest of these kinds extracts it anew. An episode
 * tells what all of them said, and stays.
 */
function ofOthersBefore(failed: readonly FailedRange[], began: Marks): FailedRange[] {
  return (["facts", "procedures"] as const)
    .filter((kind) => began[kind] > 0)
    .map((kind) => ({ kinds: [kind], after: 0, to: began[kind], why: OWNERS }))
    .reduce<FailedRange[]>((ranges, one) => withRange(without(ranges, one), one), [...failed]);
}
