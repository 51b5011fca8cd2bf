import type { Cairn, CallOptions, RecallAnswer } from "../../../client/src/index.ts";
import type { DexFact } from "./types.ts";

/** The facts most similar to a query, best first, at most `most`. Without embeddings, the newest fill up the rest. */
export async function recallFacts(
  { memory, user, most }: { memory: Cairn; user: string; most: number },
  query: string,
  options: CallOptions,
): Promise<DexFact[]> {
  if (most === 0) return [];
  // A fact of Dex has no dates: a superseded one would look current.
  const body = { query, kinds: ["fact" as const], k: most, timeMode: "off" as const };
  const answer = query === "" ? null : await memory.recall(user, body, options);
  const found = (answer?.hits ?? []).map(({ id, text }) => ({ id, text }));
  if (answer !== null && (found.length === most || hasVectors(answer))) return found;
  const { items } = await memory.memories.list(
    user,
    { kind: ["fact"], sort: "updatedAt", limit: most },
    options,
  );
  const newest = items.filter(({ id }) => found.every((one) => one.id !== id));
  return [...found, ...newest.map(({ id, text }) => ({ id, text }))].slice(0, most);
}

const hasVectors = ({ arms }: RecallAnswer): boolean =>
  arms.some(({ name, status }) => name === "vector" && status === "ok");
