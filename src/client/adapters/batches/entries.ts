import type { Cairn } from "../../cairn.ts";
import type { CallOptions } from "../../options.ts";
import type { BatchAnswer, BatchOperation } from "../../shapes.ts";
import { bySize } from "./by-size.ts";

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
  for (const batch of bySize(operations)) results.push(...(await perform(batch)));
  return results;
}

/** By its code, not by its class: two copies of the client may be in one program. */
const isTooLarge = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "code" in error && error.code === "batch_too_large";
