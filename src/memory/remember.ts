import type { Once } from "../../durable-objects/user-memory/answers.ts";
import type { Remembered } from "../../durable-objects/user-memory/memory-writer.ts";
import type { Result } from "../errors.ts";
import type { Services } from "../services.ts";
import type { RememberBody } from "../schema/memory.ts";
import { embedOne } from "./embed.ts";
import { dedupeKey, type Owner } from "./record.ts";

/**
 * Stores a memory through the user's object, the one writer of that user's memories. No model decides anything
 * here. If the embedder fails, the memory is stored, is found by its words, and gets its vector later.
 */
export async function remember(
  { embedder, userMemory }: Pick<Services, "embedder" | "userMemory">,
  owner: Owner,
  { body, once }: { body: RememberBody; once?: Once },
): Promise<Result<Remembered>> {
  const [vector, key] = await Promise.all([embedOne(embedder, body.text), dedupeKey(body)]);
  return userMemory(owner.hash).remember(owner, { body, dedupeKey: key, vector, ...(once && { once }) });
}
