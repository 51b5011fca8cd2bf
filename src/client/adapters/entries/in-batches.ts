import type { BatchAnswer, BatchOperation } from "../../shapes.ts";
import type { CallOptions } from "../../options.ts";
import type { Cairn } from "../../cairn.ts";

/** What one call takes at most (src/limits.ts): operations, and a body of 16 MiB, in characters of up to three bytes. */
const OPERATIONS = 1000;
const CHARACTERS = 5 * 1024 * 1024;

export type EntryResult = BatchAnswer["results"][number];

/**
 * Any number of operations on a user's entries, in their order, in as few calls as their sizes allow; each call is done as
 * a whole or not at all. A failure leaves the calls before it done.
 */
export async function inBatches(
  { kv }: Pick<Cairn, "kv">,
  user: string,
  operations: readonly BatchOperation[],
  options: CallOptions = {},
): Promise<EntryResult[]> {
  const perform = async (some: readonly BatchOperation[]): Promise<EntryResult[]> => {
    try {
      return (await kv.batch(user, some, options)).results;
    } catch (error) {
      if (!isTooLarge(error) || some.length < 2) throw error;
      // Only reads are refused so, by the size of what they would answer, which nobody knows before.
      const half = Math.ceil(some.length / 2);
      return [...(await perform(some.slice(0, half))), ...(await perform(some.slice(half)))];
    }
  };
  const results: EntryResult[] = [];
  for (const batch of batchesOf(operations)) results.push(...(await perform(batch)));
  return results;
}

function* batchesOf(operations: readonly BatchOperation[]): Generator<BatchOperation[]> {
  let batch: BatchOperation[] = [];
  let size = 0;
  for (const operation of operations) {
    const weight = weightOf(operation);
    if (batch.length === OPERATIONS || (batch.length > 0 && size + weight > CHARACTERS)) {
      yield batch;
      batch = [];
      size = 0;
    }
    batch.push(operation);
    size += weight;
  }
  if (batch.length > 0) yield batch;
}

const weightOf = (operation: BatchOperation): number =>
  JSON.stringify(operation.op === "set" ? [operation.key, operation.value] : operation.key).length;

/** By its code, not by its class: two copies of the client may be in one program. */
const isTooLarge = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "batch_too_large";
