// Plays a scenario under the AI SDK, with a model that says what the scenario has for it, over a Cairn with a clock of its own.
import {
  generateText,
  isStepCount,
  jsonSchema,
  MockLanguageModelV4,
  type ModelMessage,
  tool,
  wrapLanguageModel,
} from "../../adapters/scripts/ai-sdk.ts";
import { join } from "node:path";
import { contentOf, type Conversation, readConversations, authorOf } from "../evals/demo/conversation.ts";
import type { TestCairn, TestCairnOptions } from "../../embed/testing/test-cairn.ts";
import { type Cairn, cairn } from "#client/index.ts";
import type { AnswerContent } from "#adapters/ai-sdk/sdk.ts";
import type { SentPrompt } from "./prompt-cache.ts";
import { promptText } from "./prompt-text.ts";
import { type Fact, knownFacts, type Scenario, type Turn } from "./scenario.ts";
import type { Way } from "./ways.ts";

/** A prompt that the model was called with, and the number of its turn, from 1 on. */
export type Call = SentPrompt & { turn: number };

/** The calls of a scenario, and of the turn after something was forgotten. */
export type Played = { calls: Call[]; afterForgetting: Call[] };

const USER = "ana";
/** A model's answer takes so long. */
const STEP_MS = 6_000;
const BEGINS_AT = Date.UTC(2026, 4, 17, 8);

/** Both can be one person's: what she cooks, and the program that she maintains. */
const earlier: readonly Conversation[] = ["home-cook", "coding-agent"].flatMap((name) =>
  readConversations(join(import.meta.dirname, `../../../examples/${name}.json`)),
);

/** Each way has a Cairn of its own, and each run of it the same times. */
export async function play(scenario: Scenario, way: Way): Promise<Played> {
  let now = BEGINS_AT;
  const server = await startCairn({ now: () => now });
  try {
    const memory = cairn({ fetch: server.fetch, token: await server.token(USER) });
    await tellEarlier(memory);
    await server.settle();
    const { id: thread } = await memory.threads.create(USER);
    const ask = way.begin({ memory, user: USER, thread, earlier: earlierText() }, scenario.instructions);
    const messages: ModelMessage[] = [];
    const calls: Call[] = [];
    const answered = async (turn: Turn, number: number): Promise<void> => {
      now += turn.pauseMs;
      const { instructions, middleware } = await ask(turn.user);
      const model = scripted(turn.steps, (prompt) => {
        calls.push({ ...prompt, at: now, turn: number });
        now += STEP_MS;
      });
      messages.push({ role: "user", content: turn.user });
      const { responseMessages } = await generateText({
        model: middleware === undefined ? model : wrapLanguageModel({ model, middleware }),
        instructions,
        messages,
        ...(scenario.results.size > 0 && { tools: toolsOf(scenario) }),
        stopWhen: isStepCount(turn.steps.length),
      });
      messages.push(...responseMessages);
      await rememberAll(memory, turn.facts);
      await server.settle();
    };
    for (const [i, turn] of scenario.turns.entries()) await answered(turn, i + 1);
    const played = calls.splice(0);
    if (scenario.afterForgetting !== undefined) {
      await forget(memory, scenario.afterForgetting.fact);
      await answered(scenario.afterForgetting.turn, scenario.turns.length + 1);
    }
    return { calls: played, afterForgetting: calls };
  } finally {
    server.close();
  }
}

/** The Cairn for tests as it is published, which `npm run build` makes. */
async function startCairn(options: TestCairnOptions): Promise<TestCairn> {
  const built = new URL("../../embed/dist/testing.js", import.meta.url).href;
  const { testCairn } = (await import(built)) as {
    testCairn: (options: TestCairnOptions) => Promise<TestCairn>;
  };
  return testCairn(options);
}

/** The example conversations and their facts, and what is known beside them. */
async function tellEarlier(memory: Cairn): Promise<void> {
  for (const { sessions, facts } of earlier) {
    for (const { date, turns } of sessions) {
      const { id } = await memory.threads.create(USER);
      const saidAt = date === undefined ? {} : { createdAt: Date.parse(date) };
      const said = turns.map((turn) => ({ ...authorOf(turn, turns[0]?.speaker), content: contentOf(turn) }));
      await memory.threads.append(id, said, saidAt);
    }
    const outdated = new Set(facts.map(({ replaces }) => replaces));
    for (const { id, text } of facts) if (!outdated.has(id)) await memory.memories.remember(USER, { text });
  }
  await rememberAll(memory, knownFacts);
}

const earlierText = (): string =>
  earlier
    .flatMap(({ sessions }) => sessions)
    .map(({ date = "", turns }) =>
      [date, ...turns.map((turn) => `${authorOf(turn, turns[0]?.speaker).role}: ${contentOf(turn)}`)].join(
        "\n",
      ),
    )
    .join("\n\n");

async function rememberAll(memory: Cairn, facts: readonly Fact[]): Promise<void> {
  for (const fact of facts)
    await memory.memories.remember(USER, {
      ...fact,
      text: `${fact.subject} ${fact.predicate} ${fact.object}`,
    });
}

async function forget(
  memory: Cairn,
  { subject, predicate }: Pick<Fact, "subject" | "predicate">,
): Promise<void> {
  const { items } = await memory.memories.list(USER, { subject, predicate });
  for (const { id } of items) await memory.memories.forget(USER, id);
}

const usage = {
  inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 0, text: 0, reasoning: 0 },
};

/** Says one content after the other. Tells each prompt before. */
function scripted(
  steps: readonly AnswerContent[][],
  asked: (prompt: Omit<SentPrompt, "at">) => void,
): MockLanguageModelV4 {
  let at = 0;
  return new MockLanguageModelV4({
    doGenerate: async (call) => {
      asked(promptText(call));
      const content = steps[at++] ?? [];
      const unified = at < steps.length ? ("tool-calls" as const) : ("stop" as const);
      return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
    },
  });
}

const toolsOf = ({ results }: Scenario) => ({
  read_file: tool({
    description: "Reads a file of the recipe book.",
    inputSchema: jsonSchema<{ path: string }>({
      type: "object",
      properties: { path: { type: "string", description: "The file's path, as recipes/chapter-1.md." } },
      required: ["path"],
    }),
    execute: (_, { toolCallId }) => results.get(toolCallId) ?? "",
  }),
});
