import {
  convertToModelMessages,
  createUIMessageStreamResponse,
  generateId,
  generateText,
  jsonSchema,
  Output,
  streamText,
  toUIMessageStream,
  wrapLanguageModel,
} from "ai";
import { cairnMemory } from "edgecairn/adapters/ai-sdk";

/** The prompt quotes no other conversation: a fact that changed is in it as it is now. */
const layers = [
  { type: "instructions" },
  { type: "profile" },
  { type: "facts" },
  { type: "recalled", kinds: ["fact"] },
];

/** Answers the conversation that `useChat` sends, with memory in the prompt, and stores it before the answer ends. */
export async function answer({ memory, user, model }, { id, messages }) {
  // `useChat` sends the whole conversation, so the middleware saves nothing: `ingest` does, which stores what is new.
  const middleware = cairnMemory({ memory, user, save: false, context: { layers } });
  const result = streamText({
    model: wrapLanguageModel({ model, middleware }),
    instructions: "You are a friendly assistant. Answer briefly.",
    messages: await convertToModelMessages(messages),
  });
  // The answer is heard out, also if the page was closed.
  void result.consumeStream();
  const onEnd = async ({ messages: all, isAborted }) => {
    if (isAborted) return;
    // What is not stored now comes again with the next message.
    await store({ memory, user, model }, { id, messages: all }).catch(console.error);
  };
  // The page takes the answer's id from here: a message that comes again has the id under which it is stored.
  const stream = toUIMessageStream({
    stream: result.stream,
    originalMessages: messages,
    generateMessageId: generateId,
    onEnd,
  });
  return createUIMessageStreamResponse({ stream });
}

const fact = { type: "object", properties: { predicate: { type: "string" }, object: { type: "string" } } };
const schema = jsonSchema({ type: "object", properties: { facts: { type: "array", items: fact } } });

async function store({ memory, user, model }, { id: sessionId, messages }) {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const { output } = await generateText({
    model,
    instructions:
      'List what the message says about its writer that will still be true next month, in the words of the message. Write each predicate in the third person: "lives in", "works at", "is allergic to".',
    prompt: messages[last].parts.map(({ text = "" }) => text).join("\n"),
    output: Output.object({ schema }),
  });
  const facts = output.facts.map((found) => ({ ...found, subject: "user", sources: [last] }));
  await memory.ingest(user, { sessionId, messages, extracted: { facts } });
}
