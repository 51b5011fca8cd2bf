import type { Context } from "hono";
import { threadOwner, type UserHash, userHash } from "../../domain/ids.ts";
import type { AppEnv } from "./context.ts";

/** Whose memory a path is about: the hash of the user in it, or of its thread's owner; null if it names neither. */
export async function ownerInPath(c: Context<AppEnv>): Promise<UserHash | null> {
  const user = c.req.param("user");
  return user === undefined ? threadOwner(c.req.param("id") ?? "") : userHash(user);
}
