import type { Cairn, ReviewedMemory, ReviewMemoriesBody } from "edgecairn";

export type Decision = ReviewMemoriesBody["decision"];
export const DECIDING: Readonly<Record<Decision, string>> = { release: "Releasing", reject: "Rejecting" };

/** Memories that one call takes. */
const AT_ONCE = 500;

/** Releases or rejects what is named, or all that wait and match. Rejects if some failed, and says how many and why. */
export async function review(
  memory: Cairn,
  user: string,
  body: ReviewMemoriesBody,
): Promise<ReviewedMemory[]> {
  const items: ReviewedMemory[] = [];
  const { decision, memories, filter } = body;
  if (memories === undefined)
    for await (const one of memory.memories.reviewAll(user, { decision, ...(filter && { filter }) }))
      items.push(one);
  for (let i = 0; i < (memories?.length ?? 0); i += AT_ONCE) {
    const some = memories?.slice(i, i + AT_ONCE) ?? [];
    items.push(...(await memory.memories.review(user, { decision, memories: some })).items);
  }
  const failed = items.filter(({ outcome }) => outcome === "failed");
  if (failed.length === 0) return items;
  const reasons = [...new Set(failed.map(({ error }) => error?.message))].slice(0, 3);
  throw new Error(`${failed.length} of ${items.length} wait as before: ${reasons.join(" ")}`);
}
