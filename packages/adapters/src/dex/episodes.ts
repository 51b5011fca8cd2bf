import type { Cairn, CallOptions, Hit, Memory, RememberBody } from "../../../client/src/index.ts";
import type { DexEpisode } from "./types.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** Bytes of UTF-8 of a scope. */
const SCOPE = 1024;

export type Place = { projectRoot: string; cwd: string };

/** A project's path is the scope of its episodes, if it fits. */
const scopeOf = (projectRoot: string): string | undefined =>
  new TextEncoder().encode(projectRoot).byteLength <= SCOPE ? projectRoot : undefined;

/** A summary as a memory. The same words in the same project are the same memory, dated now. */
export async function episodeBody(
  text: string,
  { projectRoot, cwd }: Place,
  createdAt: number,
): Promise<RememberBody> {
  const scope = scopeOf(projectRoot);
  return {
    kind: "episode",
    text,
    type: "turn",
    externalId: `dex/${await sha256Hex(JSON.stringify([projectRoot, text]))}`,
    createdAt,
    metadata: { projectRoot, cwd },
    source: { extractor: "dex" },
    ...(scope !== undefined && { scope }),
  };
}

type Wanted = { memory: Cairn; user: string; projectRoot: string; recent: number; similar: number };

/** The most recent episodes of a project and those most similar to a query, without duplicates, newest first. */
export async function recallEpisodes(
  { memory, user, projectRoot, recent: mostRecent, similar: mostSimilar }: Wanted,
  query: string,
  options: CallOptions,
): Promise<DexEpisode[]> {
  const scope = scopeOf(projectRoot);
  const metadata = { projectRoot };
  const list = {
    kind: ["episode" as const],
    metadata,
    limit: mostRecent,
    ...(scope !== undefined && { scope: [scope] }),
  };
  const search = {
    query,
    kinds: ["episode" as const],
    k: mostSimilar,
    filter: { metadata },
    ...(scope !== undefined && { scope }),
  };
  const [recent, similar] = await Promise.all([
    mostRecent === 0 ? { items: [] } : memory.memories.list(user, list, options),
    query === "" || mostSimilar === 0 ? { hits: [] } : memory.recall(user, search, options),
  ]);
  const found = [...recent.items, ...similar.hits].map(episodeOf);
  const distinct = [...new Map(found.map((one) => [one.id, one])).values()];
  return distinct.toSorted((a, b) => b.createdAt - a.createdAt);
}

const episodeOf = ({ id, text, createdAt }: Memory | Hit): DexEpisode => ({ id, text, createdAt });
