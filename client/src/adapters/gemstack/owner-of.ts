import { base64Of } from "../bytes/base64.ts";

const THREAD_ID = /^([\w-]{22})\.[0-9a-f-]{36}$/;

/**
 * Whether a thread's id says that it is another user's (or nobody's). It begins with the hash that names its owner's object,
 * and no other object is asked for it. Of an id that is no thread's, the server says so.
 */
export async function isOfAnother(user: string, threadId: string): Promise<boolean> {
  const owner = THREAD_ID.exec(threadId)?.[1];
  return owner !== undefined && owner !== (await userHash(user));
}

/** base64url of the first 16 bytes of SHA-256 (docs/architecture.md, Routing). */
async function userHash(user: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`cairn:user:${user}`));
  return base64Of(new Uint8Array(hash, 0, 16))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
