// The work of the rules of conversations is counted by V8: how often it entered each block of their code. No clock is read.
import { Session } from "node:inspector/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { validateContinuation } from "../../../src/domain/conversation/continuation.ts";
import { sanitizeConversation } from "../../../src/domain/conversation/sanitize.ts";

const [FEW, MANY] = [200, 1_600];
/** Eight times the parts may cost so many times the work; by the square it is 64 times. */
const TIMES = 10;
const RULES = "/src/domain/conversation/";

const user = (content: unknown) => ({ role: "user", content });
const assistant = (content: unknown) => ({ role: "assistant", content });
const each = (n: number, part: (i: number) => object) => Array.from({ length: n }, (_, i) => part(i));
const named = (kind: string, of: (i: number) => object) => (n: number) => ({
  role: kind === "functionCall" ? "model" : "user",
  parts: each(n, (i) => ({ [kind]: of(i) })),
});
const gemini = (call: (i: number) => object, result: (i: number) => object) => (n: number) => [
  named("functionCall", call)(n),
  named("functionResponse", result)(n),
];

/** Conversations of `n` parts. */
const CONVERSATIONS: Record<string, (n: number) => object[]> = {
  "requests for approval of no call": (n) => [assistant(each(n, () => ({ type: "tool-approval-request" })))],
  "requests for approval, with their calls behind them": (n) => [
    assistant([
      ...each(n, (i) => ({ type: "tool-approval-request", approvalId: `a${i}`, toolCallId: `c${i}` })),
      ...each(n, (i) => ({ type: "tool-call", toolCallId: `c${i}`, toolName: "f", input: {} })),
    ]),
  ],
  "answers to requests for approval": (n) => [
    assistant(each(n, (i) => ({ type: "tool-approval-request", approvalId: `a${i}`, toolCallId: `c${i}` }))),
    { role: "tool", content: each(n, (i) => ({ type: "tool-approval-response", approvalId: `a${i}` })) },
  ],
  "calls, and their results in another order": (n) => [
    assistant(each(n, (i) => ({ type: "tool_use", id: `c${i}`, name: "f", input: {} }))),
    user(each(n, (i) => ({ type: "tool_result", tool_use_id: `c${n - i}`, content: "x" }))),
  ],
  "results of one message each": (n) => [
    { role: "assistant", toolCalls: each(n, (i) => ({ id: `c${i}`, name: "f" })) },
    ...each(n, (i) => ({ role: "tool", toolCallId: `c${n - 1 - i}`, content: "x" })),
  ],
  "calls that the provider carries out": (n) => [
    assistant(each(n, (i) => ({ type: "server_tool_use", id: `c${i}`, name: "f", input: {} }))),
    assistant(each(n, (i) => ({ type: "web_search_tool_result", tool_use_id: `c${i}`, content: [] }))),
  ],
  "Gemini's calls without an id": gemini(
    () => ({ name: "f" }),
    () => ({ name: "f" }),
  ),
  "Gemini's calls with results in another order": gemini(
    (i) => ({ name: "f", id: `c${i}` }),
    (i) => ({ name: "f", id: `c${MANY - i}` }),
  ),
  "Gemini's calls of one id, and results without one": gemini(
    () => ({ name: "f", id: "c" }),
    (i) => (i % 2 === 0 ? { name: "f" } : { name: "f", id: "c" }),
  ),
  "Gemini's calls with the results of other functions": gemini(
    (i) => ({ name: `f${i}` }),
    (i) => ({ name: `f${MANY - i}` }),
  ),
  "pending parts of a UI message": (n) => [
    {
      role: "assistant",
      parts: each(n, (i) => ({ type: "tool-f", toolCallId: `c${i}`, state: "input-available" })),
    },
  ],
  reasoning: (n) => [assistant(each(n, () => ({ type: "reasoning", text: "x" })))],
  "empty texts": (n) => [user(each(n, () => ({ type: "text", text: " " })))],
  texts: (n) => [user(each(n, () => ({ type: "text", text: "x" })))],
};

// One session for all: V8 counts only what it has not optimised before.
const session = new Session();
beforeAll(async () => {
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
});
afterAll(async () => {
  await session.post("Profiler.stopPreciseCoverage");
  session.disconnect();
});

/** Counts how often V8 enters the blocks of the rules. */
async function workOf(act: () => unknown): Promise<number> {
  await session.post("Profiler.takePreciseCoverage");
  act();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const rules = result.filter(({ url }) => url.includes(RULES)).flatMap(({ functions }) => functions);
  return rules.flatMap(({ ranges }) => ranges).reduce((sum, { count }) => sum + count, 0);
}

it.each(Object.entries(CONVERSATIONS))("the work grows with the number of parts: %s", async (_, of) => {
  const read = (n: number) => () => {
    const messages = of(n);
    sanitizeConversation(messages);
    validateContinuation([], messages);
  };
  const few = await workOf(read(FEW));
  const many = await workOf(read(MANY));
  expect(few).toBeGreaterThan(FEW);
  expect(many).toBeLessThan(TIMES * few);
});
