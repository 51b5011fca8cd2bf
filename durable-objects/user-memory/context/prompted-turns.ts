import { messageHash, userText } from "../../../src/domain/context/message-hash.ts";
import { requestedCalls } from "../../../src/domain/conversation/tool-calls.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import { parsed } from "../threads/message-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";

/** Messages that are looked at for the last ones of the user. */
const LOOKED_AT = 400;

/** The thread's last messages, the newest first. */
export function* lastMessages(
  stores: ThreadStores,
  thread: StoredThread,
): Generator<{ seq: number; message: Message }> {
  let left = LOOKED_AT;
  for (const { seq, body } of stores.reader.walk(thread, { order: "newest", view: "raw", slice: 16 })) {
    if (left-- === 0) return;
    yield { seq, message: parsed(body) };
  }
}

/** The hash of the current message of the user, which may be stored already, and of the one before it. */
export async function currentTurn(
  stores: ThreadStores,
  thread: StoredThread,
  query: string,
): Promise<{ before: string | undefined; hash: string; isStored: boolean }> {
  const hash = await messageHash(query);
  const said: string[] = [];
  let isAnswered = false;
  for (const { message } of lastMessages(stores, thread)) {
    if (message.role === "assistant" && said.length === 0 && requestedCalls(message).length === 0)
      isAnswered = true;
    const text = message.role === "user" ? userText(message) : "";
    if (text !== "") said.push(await messageHash(text));
    if (said.length === 2) break;
  }
  const [last, former] = said;
  const isStored = last === hash && !isAnswered;
  return { before: isStored ? former : last, hash, isStored };
}
