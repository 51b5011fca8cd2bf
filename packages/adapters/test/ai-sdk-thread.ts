// What a test of the AI SDK's middleware has in hand: a user with a thread, a model that has a memory, and what is stored.
import { jsonSchema, tool, wrapLanguageModel } from "ai";
import type { MockLanguageModelV4 } from "ai/test";
import { cairnMemory, type ConversationOptions } from "../src/ai-sdk.ts";
import type { Cairn, CairnOptions } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";

export const weather = tool({
  description: "The weather of a place.",
  inputSchema: jsonSchema<{ place: string }>({ type: "object", properties: { place: { type: "string" } } }),
  execute: ({ place }) => `sunny in ${place}`,
});

export async function begin(more: Partial<CairnOptions> = {}) {
  const user = newUser();
  const memory = await clientOf(user, more);
  const plain = await clientOf(user);
  const { id: thread } = await plain.threads.create(user);
  return { user, memory, plain, thread };
}

/** What a thread holds, in the order of the conversation. */
export const messagesOf = async (memory: Cairn, thread: string) => {
  const all = [];
  for await (const { message } of memory.threads.messages(thread)) all.push(message);
  return all;
};
export const textsOf = async (memory: Cairn, thread: string) =>
  (await messagesOf(memory, thread)).map(({ role, content }) => [
    role,
    (content as { type: string; text?: string }[]).map(({ type, text }) => text ?? type).join("+"),
  ]);

export const withMemory = (model: MockLanguageModelV4, options: ConversationOptions) =>
  wrapLanguageModel({ model, middleware: cairnMemory(options) });
