import type { Cairn } from "../../cairn.ts";
import { hasCode } from "../../error.ts";
import type { CallOptions } from "../../options.ts";
import type { BatchAnswer, BatchOperation } from "../../shapes.ts";
import { batchesBySize } from "../calls/batches-by-size.ts";

export type EntryResult = BatchAnswer["results"][number];

/** The bytes of the values that one batch answers (src/domain/limits.ts). */
const ANSWER = 16 * 1024 * 1024;

/**
 * Any number of operations on a user's entries, in their order, in as few calls as their sizes, and those of what they
 * read, allow; each call is done as a whole or not at all. A failure leaves the calls before it done.
 */
export async function inBatches(
  { kv }: Pick<Cairn, "kv">,
  user: string,
  operations: readonly BatchOperation[],
  options: CallOptions = {},
): Promise<EntryResult[]> {
  const done: EntryResult[] = [];
  for (const batch of batchesBySize(operations)) {
    let most = batch.length;
    for (let from = 0; from < batch.length;) {
      const some = batch.slice(from, from + most);
      try {
        const { results } = await kv.batch(user, some, options);
        done.push(...results);
        from += some.length;
        if (most < batch.length) most = mostLike(results);
      } catch (error) {
        most = thatFit(some.length, error);
      }
    }
  }
  return done;
}

/** How many to ask for in place of so many, whose values are more than one answer holds; throws what else went wrong. */
function thatFit(asked: number, error: unknown): number {
  if (!hasCode(error, "batch_too_large") || asked < 2) throw error;
  // It names the first that did not fit: as many as come before it do.
  const first = Number(/\[(\d+)\]/.exec(error.details[0]?.path ?? "")?.[1]);
  return first > 0 && first < asked ? first : Math.ceil(asked / 2);
}

/** How many results of the size of these fit into one answer. As characters: if they are more bytes, it says so. */
const mostLike = (results: readonly EntryResult[]): number =>
  Math.max(1, Math.floor((results.length * ANSWER) / JSON.stringify(results).length));
