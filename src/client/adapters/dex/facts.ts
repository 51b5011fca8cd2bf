import type { Cairn, CallOptions, RecallAnswer } from "../../index.ts";
import type { DexFact } from "./types.ts";

const MOST = 10;

/** The facts that a query is about, best first, 10 at most; filled up by the newest where there is no embedding. */
export async function recallFacts(
  { memory, user }: { memory: Cairn; user: string },
  query: string,
  options: CallOptions,
): Promise<DexFact[]> {
  const answer =
    query === "" ? null : await memory.recall(user, { query, kinds: ["fact"], k: MOST }, options);
  const found = (answer?.hits ?? []).map(({ id, text }) => ({ id, text }));
  if (answer !== null && (found.length === MOST || hasVectors(answer))) return found;
  const { items } = await memory.memories.list(
    user,
    { kind: ["fact"], sort: "updatedAt", limit: MOST },
    options,
  );
  const newest = items.filter(({ id }) => found.every((one) => one.id !== id));
  return [...found, ...newest.map(({ id, text }) => ({ id, text }))].slice(0, MOST);
}

const hasVectors = ({ arms }: RecallAnswer): boolean =>
  arms.some(({ name, status }) => name === "vector" && status === "ok");
