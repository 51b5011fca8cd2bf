import { type Cairn, CairnError, type ContextLayer } from "edgecairn";
import type { Message, Model } from "./models.ts";

/** Names the threads of this chat among those of the user's other apps. */
export const AGENT = "edge-chat";
const RULES = "You are a friendly assistant. Answer briefly, in the language of the user.";
/** The prompt quotes no old conversation: a fact that changed is in it as it is now. */
const LAYERS: ContextLayer[] = [
  { type: "instructions" },
  { type: "profile" },
  { type: "facts" },
  { type: "recalled", kinds: ["fact"] },
  { type: "history" },
];

export type Chat = { memory: Cairn; user: string; model: Model };

/** The answer as a stream. It ends once both messages are stored, which happens also if nobody reads it to its end. */
export async function answer(chat: Chat, threadId: string, text: string): Promise<ReadableStream<string>> {
  const { memory, user, model } = chat;
  const format = "messages";
  const { messages } = await memory.context(user, { query: text, threadId, format, layers: LAYERS });
  const prompt = [{ role: "system", content: RULES }, ...(messages ?? [])] as Message[];
  const [shown, kept] = (await model.stream(prompt)).tee();
  const stored = store(chat, threadId, text, kept);
  memory.later(() => stored);
  return shown.pipeThrough(new TransformStream({ flush: () => stored }));
}

async function store(
  { memory, user, model }: Chat,
  threadId: string,
  text: string,
  pieces: ReadableStream<string>,
) {
  let content = "";
  for await (const piece of pieces) content += piece;
  const turn = [
    { role: "user", content: text },
    { role: "assistant", content },
  ];
  const { firstSeq } = (await memory.threads.append(threadId, turn).catch(orForgotten)) ?? {};
  if (firstSeq === undefined) return;
  memory.later(async () => {
    const found = await model.facts(text);
    const facts = found.map((fact) => ({ ...fact, subject: "user", sources: [firstSeq] }));
    if (facts.length > 0) await memory.ingest(user, { threadId, extracted: { facts } }).catch(orForgotten);
  });
}

/** Null if the user was forgotten meanwhile: nothing more is stored. */
function orForgotten(error: unknown): null {
  if (error instanceof CairnError && error.code === "not_found") return null;
  throw error;
}
