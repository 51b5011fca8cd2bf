import type { Result } from "../errors.ts";
import type { Services } from "../services.ts";
import type { UserHash } from "../ids.ts";
import type { RecallAnswer, RecallBody } from "../schema/recall.ts";
import { embedOne } from "./embed.ts";

/** Finds memories and messages by meaning and by words: one embedding, then one call to the user's object. */
export async function recall(
  { embedder, userMemory }: Pick<Services, "embedder" | "userMemory">,
  owner: UserHash,
  { k = 10, tags, scope, filter, ...body }: RecallBody,
): Promise<Result<RecallAnswer>> {
  const queryVector = await embedOne(embedder, body.query, "query");
  const narrowed = {
    ...filter,
    // A tag or scope here is one more condition, whatever the filter says.
    ...(tags && { tags: [...(filter?.tags ?? []), ...tags] }),
    ...(scope !== undefined && {
      scope: filter?.scope === undefined || filter.scope.includes(scope) ? [scope] : [],
    }),
  };
  const given = filter !== undefined || tags !== undefined || scope !== undefined;
  return userMemory(owner).recall({ ...body, k, queryVector, ...(given && { filter: narrowed }) });
}
