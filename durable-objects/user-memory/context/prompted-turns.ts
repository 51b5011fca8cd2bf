import { messageHash, turnNames, userText } from "../../../src/domain/context/message-hash.ts";
import { requestedCalls } from "../../../src/domain/conversation/tool-calls.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import { parsed } from "../threads/message-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";

/** The messages at the end of a thread that a prompt is taken to hold. */
export const HELD = 20;
/** Messages that are looked at for the last ones of the user. */
export const LOOKED_AT = 400;

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

/** The current turn, whose message may be stored already, and the turns of the last messages before it. */
export async function currentTurn(
  stores: ThreadStores,
  thread: StoredThread,
  query: string,
): Promise<{ name: string; isStored: boolean; earlier: string[] }> {
  const hash = await messageHash(query);
  const said: string[] = [];
  let [read, isAnswered, isWhole] = [0, false, true];
  for (const { message } of lastMessages(stores, thread)) {
    // One message of the user more than are held, which names the first of these.
    if (read >= HELD && said.length >= 2) {
      isWhole = false;
      break;
    }
    read++;
    if (message.role === "assistant" && said.length === 0 && requestedCalls(message).length === 0)
      isAnswered = true;
    const text = message.role === "user" ? userText(message) : "";
    if (text !== "") said.push(await messageHash(text));
  }
  const isStored = said[0] === hash && !isAnswered;
  const past = isStored ? said.slice(1) : said;
  const inOrder = [hash, ...past].toReversed();
  const names = isWhole ? await turnNames(inOrder) : await turnNames(inOrder.slice(1), inOrder[0]);
  const [name = "", ...earlier] = names.toReversed();
  return { name, isStored, earlier };
}
