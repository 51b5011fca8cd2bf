import { base64Of } from "../bytes/base64.ts";

const THREAD_ID = /^([\w-]{22})\.[0-9a-f-]{36}$/;

/**
 * True if a thread's id belongs to another user or to nobody. An id begins with its owner's hash, and only that object
 * can hold it. For an invalid id, the server decides.
 */
export async function isOfAnother(user: string, threadId: string): Promise<boolean> {
  const owner = THREAD_ID.exec(threadId)?.[1];
  return owner !== undefined && owner !== (await userHash(user));
}

/** base64url of the first 16 bytes of SHA-256 (docs/internals/architecture.md, Routing). */
async function userHash(user: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`cairn:user:${user}`));
  return base64Of(new Uint8Array(hash, 0, 16))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
