import type { Result } from "../errors.ts";
import type { Services } from "../services.ts";
import type { UserHash } from "../ids.ts";
import type { RecallAnswer, RecallBody } from "../schema/recall.ts";
import { embedOne } from "./embed.ts";

/** Finds memories and messages by meaning and by words: one embedding, then one call to the user's object. */
export async function recall(
  { embedder, userMemory }: Pick<Services, "embedder" | "userMemory">,
  owner: UserHash,
  { k = 10, tags: given, scope, filter, ...body }: RecallBody,
): Promise<Result<RecallAnswer>> {
  // No tag narrows nothing, not even memories from messages.
  const tags = given?.length === 0 ? undefined : given;
  const queryVector = await embedOne(embedder, body.query, "query");
  const narrowed = {
    ...filter,
    // A tag or scope here is one more condition, whatever the filter says.
    ...(tags && { tags: [...(filter?.tags ?? []), ...tags] }),
    ...(scope !== undefined && {
      scope: filter?.scope === undefined || filter.scope.includes(scope) ? [scope] : [],
    }),
  };
  const narrow = filter !== undefined || tags !== undefined || scope !== undefined;
  return userMemory(owner).recall({ ...body, k, queryVector, ...(narrow && { filter: narrowed }) });
}
