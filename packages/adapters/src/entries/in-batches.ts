import type { Cairn } from "../../../client/src/cairn.ts";
import { hasCode } from "../../../client/src/error.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { BatchAnswer, BatchOperation } from "../../../client/src/shapes.ts";
import { batchesBySize } from "../calls/batches-by-size.ts";

export type EntryResult = BatchAnswer["results"][number];

/** Bytes of the values in one batch's response (src/domain/limits.ts). */
const ANSWER = 16 * 1024 * 1024;

/**
 * Runs any number of operations on a user's entries, in order, in as few calls as their sizes and results allow. Each
 * call is atomic. A failure leaves the earlier calls done.
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

/** A smaller number of operations after a response exceeded its limit. Rethrows any other error. */
function thatFit(asked: number, error: unknown): number {
  if (!hasCode(error, "batch_too_large") || asked < 2) throw error;
  // The error names the first result that did not fit: requests only those before it.
  const first = Number(/\[(\d+)\]/.exec(error.details[0]?.path ?? "")?.[1]);
  return first > 0 && first < asked ? first : Math.ceil(asked / 2);
}

/** Estimates the results per response from their length in characters; the server refuses if bytes are more. */
const mostLike = (results: readonly EntryResult[]): number =>
  Math.max(1, Math.floor((results.length * ANSWER) / JSON.stringify(results).length));
