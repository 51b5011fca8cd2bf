import type { Result } from "../errors.ts";
import type { Services } from "../services.ts";
import type { UserHash } from "../ids.ts";
import type { RecallAnswer, RecallBody } from "../schema/recall.ts";
import { embedOne } from "./embed.ts";

/** Finds memories and messages by meaning and by words: one embedding, then one call to the user's object. */
export async function recall(
  { embedder, userMemory }: Pick<Services, "embedder" | "userMemory">,
  owner: UserHash,
  { k = 10, ...body }: RecallBody,
): Promise<Result<RecallAnswer>> {
  const queryVector = await embedOne(embedder, body.query);
  return userMemory(owner).recall({ ...body, k, queryVector });
}
