import { CairnError } from "../../../client/src/error.ts";
import { isPassing } from "../../../client/src/retry.ts";
import { ENTRY_BYTES, type LargeEntries, type LargeEntry } from "../entries/large-entries.ts";

/** A write of a run. */
export type RunWrite = {
  entries: Promise<LargeEntry[]>;
  /** Writes by the writer's client, which ends with the writer's limit. */
  into: LargeEntries;
  /** Aborts at that limit. */
  limit: AbortSignal | undefined;
  /** Stores the same by itself. */
  alone: (entries: LargeEntry[]) => Promise<void>;
};
type Group = { writes: RunWrite[]; isOpen: boolean; outcomes: Promise<PromiseSettledResult<void>[]> };

/**
 * Stores together what a run writes in one turn of the event loop: LangGraph calls `putWrites` and the next `put` one right after
 * the other. So a checkpoint and the writes that led to it take one call. No write waits for an earlier one: its limit would pass.
 */
export class RunWrites {
  /** By what only the calls of one run have. */
  readonly #open = new WeakMap<object, Group>();

  /** Resolves when this write is stored. Rejects if it is not, whatever becomes of the others. */
  async store(run: object | undefined, write: RunWrite): Promise<void> {
    // The caller gets a failure from `store`.
    write.entries.catch(() => {});
    if (run === undefined) return write.alone(await write.entries);
    const open = this.#open.get(run);
    const group = open?.isOpen === true ? open : this.#begin(run);
    const place = group.writes.push(write) - 1;
    const outcome = (await group.outcomes)[place];
    if (outcome?.status === "rejected") throw outcome.reason;
  }

  #begin(run: object): Group {
    const writes: RunWrite[] = [];
    const stored = async () => {
      await new Promise((resolve) => void setTimeout(resolve));
      group.isOpen = false;
      return storeAll(writes);
    };
    const group: Group = { writes, isOpen: true, outcomes: stored() };
    this.#open.set(run, group);
    return group;
  }
}

async function storeAll(writes: readonly RunWrite[]): Promise<PromiseSettledResult<void>[]> {
  const made = await Promise.allSettled(
    writes.map(async ({ entries, limit }) => {
      const one = await entries;
      limit?.throwIfAborted();
      return one;
    }),
  );
  const all = made.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  const together = writes.length > 1 && made.every(({ status }) => status === "fulfilled") && fits(all);
  // The limit of the last writer ends last.
  const last = writes.at(-1);
  if (together && last !== undefined)
    try {
      await last.into.write(all);
      return writes.map(() => ({ status: "fulfilled", value: undefined }));
    } catch (reason) {
      // Cairn refused all for the sake of one. A failure that passes concerns all.
      if (!(reason instanceof CairnError) || isPassing(reason))
        return writes.map(() => ({ status: "rejected", reason }));
    }
  const outcomes: PromiseSettledResult<void>[] = [];
  for (const write of writes)
    outcomes.push(...(await Promise.allSettled([write.entries.then((one) => write.alone(one))])));
  return outcomes;
}

/** True if one batch surely holds them, so that none is stored in part. */
const fits = (entries: readonly LargeEntry[]): boolean => JSON.stringify(entries).length <= ENTRY_BYTES;
