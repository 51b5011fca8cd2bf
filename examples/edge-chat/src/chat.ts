import type { Cairn } from "edgecairn";
import { failedBy, unlessForgotten } from "./forgotten.ts";
import type { ChatModel, Turn } from "./model.ts";

/** A user's conversations with this chat; other apps of the same user have threads of their own. */
const AGENT = "edge-chat";
const TURNS = 20;
const FACTS = 6;

/** What the user said, when, and where. */
type Said = { text: string; at: number; thread: string };

export type Chat = { memory: Cairn; user: string; model: ChatModel };

/** What was said in the user's last conversation; reading makes none. */
export async function lastConversation({ memory, user }: Pick<Chat, "memory" | "user">): Promise<Turn[]> {
  const { items } = await memory.user(user).threads.list({ agent: AGENT, limit: 1 });
  return items[0] === undefined ? [] : turnsOf(memory, items[0].id);
}

/** From now on the last conversation is an empty one. */
export const newConversation = ({ memory, user }: Pick<Chat, "memory" | "user">) =>
  memory.user(user).threads.create({ agent: AGENT });

/**
 * Answers in pieces, in the user's last conversation. What the user said is stored before the model is asked; the answer is
 * stored before the stream ends, also when nobody reads it any more. Facts are found meanwhile, and remembered if the user
 * has not been forgotten by then.
 */
export async function answer(
  chat: Chat,
  text: string,
): Promise<{ reply: ReadableStream; done: Promise<void> }> {
  const { memory, user, model } = chat;
  const at = Date.now();
  const { id } = await memory.user(user).threads.resume({ agent: AGENT });
  const [known, turns] = await Promise.all([recalled(chat, text), turnsOf(memory, id)]);
  await memory.threads.append(id, [{ role: "user", content: text }]);
  const pieces = await model.answer({ known, turns: [...turns, { role: "user", content: text }] });
  memory.later(() => rememberFacts(chat, { text, at, thread: id }));
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const done = say(pieces, writable, (content) =>
    unlessForgotten(() => memory.threads.append(id, [{ role: "assistant", content }])),
  );
  return { reply: readable, done };
}

/** What is known about the user that has to do with this. */
async function recalled({ memory, user }: Chat, query: string): Promise<string[]> {
  const { hits } = await memory.user(user).recall({ query, k: FACTS, kinds: ["fact"] });
  return hits.map((hit) => hit.text);
}

async function turnsOf(memory: Cairn, threadId: string): Promise<Turn[]> {
  const { items } = await memory.threads.read(threadId, { limit: TURNS });
  return items.flatMap(({ message: { role, content } }) =>
    (role === "user" || role === "assistant") && typeof content === "string" ? [{ role, content }] : [],
  );
}

/**
 * An erasure ends at what was written before it, and finding facts takes a model's time. So they are written only if the
 * thread is still there; and where it went between this look and the write, they are taken back.
 */
async function rememberFacts({ memory, user, model }: Chat, { text, at, thread }: Said): Promise<void> {
  const found = await model.factsIn(text);
  // Of two turns at once the one that was said last is true now, whichever the model was done with first.
  const facts = found.map((fact) => (fact.object === undefined ? fact : { ...fact, validFrom: at }));
  if (facts.length === 0 || (await memory.threads.get(thread)) === null) return;
  const source = { thread, extractor: AGENT };
  // The same words again are the same memory; another object of a subject and predicate takes the place of the last one.
  const remembered = await unlessForgotten(() =>
    memory.user(user).memories.rememberMany(facts.map((fact) => ({ ...fact, source }))),
  );
  if (remembered === undefined || (await memory.threads.get(thread)) !== null) return;
  const written = remembered.items.map((item) => item.memory);
  await Promise.all(written.map((fact) => takeBack({ memory, user }, fact)));
}

/** What was said anew since then has another version, and stays. */
async function takeBack(
  { memory, user }: Pick<Chat, "memory" | "user">,
  { id, version }: { id: string; version: number },
): Promise<void> {
  try {
    await memory.user(user).memories.forget(id, { ifVersion: version });
  } catch (error) {
    if (!failedBy(error, "precondition_failed", "not_found")) throw error;
  }
}

/** Hands the pieces on as they come, and stores the whole before it ends. */
async function say(
  pieces: ReadableStream<string>,
  to: WritableStream<Uint8Array>,
  store: (whole: string) => Promise<unknown>,
): Promise<void> {
  const writer = to.getWriter();
  const encoder = new TextEncoder();
  let whole = "";
  let read = true;
  try {
    for await (const piece of pieces) {
      whole += piece;
      // A reader who has gone away is no reason not to hear the model out.
      if (read)
        read = await writer.write(encoder.encode(piece)).then(
          () => true,
          () => false,
        );
    }
    if (whole !== "") await store(whole);
    if (read) await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
    throw error;
  }
}
