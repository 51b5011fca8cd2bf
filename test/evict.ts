import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { userHash } from "../src/domain/ids.ts";

/** Evicts a user's object once what is under way is done; one that nobody calls may be gone already. */
export async function evict(user: string): Promise<void> {
  const object = env.USER_MEMORY.getByName(await userHash(user));
  await evictDurableObject(object).catch((error: Error) => {
    if (!error.message.includes("not currently running")) throw error;
  });
}
