// Calls of contexts over several turns, as an app makes them.
import { call } from "../../../call.ts";
import { remembered } from "../../../memory-calls.ts";
import { append, say } from "../../../thread-calls.ts";

export const MINUTE = 60_000;
export const ask = (user: string, body: object, headers: Record<string, string> = {}) =>
  call(`/v1/users/${user}/context`, { json: body, headers });
/** The answer of a call that succeeds. */
export const context = async (user: string, body: object) => {
  const { status, body: answer } = await ask(user, body);
  if (status !== 200) throw new Error(JSON.stringify(answer));
  return answer;
};
export const lives = (user: string, object: string) =>
  remembered(user, { subject: "Ann", predicate: "lives in", object });
/** A user's message and its answer, with the context that was made for it. */
export const turn = async (user: string, threadId: string, query: string, more: object = {}) => {
  const made = await context(user, { query, threadId, ...more });
  await append(threadId, [say(query), say("Fine.", "assistant")]);
  return made;
};
/** The items of a block. */
export const lines = (text: string): string[] => text.split("\n").filter((line) => line.startsWith("- "));
