// A context beside the SDK's own step: what a provider's cache sees of both, over the turns of a conversation.
import { generateText, isStepCount, type ModelMessage, type PrepareStepFunction } from "ai";
import { beforeEach, expect, it, vi } from "vitest";
import { cairnMemoryStore, composePrepareStep, createMemoryPrepareStep } from "../src/ai-employee.ts";
import { memoryStep } from "../src/ai-sdk.ts";
import type { Cairn } from "../../client/src/index.ts";
import { calls, promptsOf, says, scripted } from "./ai-sdk-model.ts";
import { begin, weather } from "./ai-sdk-thread.ts";

let user: string;
let memory: Cairn;
let thread: string;
beforeEach(async () => {
  ({ user, memory, thread } = await begin());
});

const lives = (object: string) =>
  memory.memories.remember(user, { subject: "user", predicate: "lives in", object });
const hazelnuts = () =>
  memory.memories.remember(user, { kind: "episode", text: "Ana is allergic to hazelnuts" });
const entry = (value: string) => memory.kv.set(user, "memory:tone", value);

type Step = PrepareStepFunction<{ weather: typeof weather }>;
/** A conversation whose history the program holds; each turn is a run with the same step. */
function conversation(prepareStep: Step, ...answers: Parameters<typeof scripted>) {
  const model = scripted(...answers);
  const messages: ModelMessage[] = [];
  const say = async (content: string) => {
    messages.push({ role: "user", content });
    const { responseMessages } = await generateText({
      model,
      instructions: "You are kind.",
      messages,
      tools: { weather },
      stopWhen: isStepCount(3),
      prepareStep,
    });
    messages.push(...responseMessages);
  };
  return { say, prompts: () => promptsOf(model) };
}
const textOf = (message: unknown): string => JSON.stringify(message);
const systemOf = (prompt: readonly { role: string; content: unknown }[] = []): string =>
  prompt.flatMap(({ role, content }) => (role === "system" ? [String(content)] : [])).join("\n");

it("begins each prompt with the one before, as long as no entry changes", async () => {
  await lives("Porto");
  await hazelnuts();
  await entry("short answers");
  const warned = vi.spyOn(console, "warn");
  const context = memoryStep({ memory, user, thread });
  const entries = createMemoryPrepareStep(cairnMemoryStore({ memory, user }));
  const others = () => ({ activeTools: ["weather" as const], providerOptions: { p: { a: 1 } } });
  const { say, prompts } = conversation(
    composePrepareStep(others, context, entries, null),
    calls("weather", { place: "Porto" }, "c1"),
    says("Not hazelnuts."),
    says("Noted."),
    calls("weather", { place: "Faro" }, "c2"),
    says("In Faro."),
  );
  await say("Which nuts can Ana not eat?");
  await lives("Braga");
  await say("thanks!");
  await lives("Faro");
  await say("Where do I live now?");
  const sent = prompts();
  expect(sent).toHaveLength(5);
  for (const [i, prompt] of sent.entries())
    expect(prompt.slice(0, sent[i - 1]?.length ?? 0)).toEqual(sent[i - 1] ?? []);
  const last = sent.at(-1) ?? [];
  expect(systemOf(last)).toMatch(
    /^You are kind\.\n<memory>.*- user: lives in Porto.*<\/memory>\n<memories>\n\[memory:tone\]: "short answers"\n<\/memories>$/s,
  );
  const asked = last.filter(({ role }) => role === "user").map(textOf);
  expect(asked).toEqual([
    expect.stringMatching(/hazelnuts.*Which nuts/),
    expect.stringMatching(/lives in Braga.*thanks!/),
    expect.stringMatching(/lives in Faro.*Where do I live now\?/),
  ]);
  expect(warned).not.toHaveBeenCalled();
  warned.mockRestore();
});

it("keeps the beginning also if entries change, where the context shows them", async () => {
  await entry("short answers");
  const layers = [{ type: "entries", prefix: "memory:" }] as const;
  const shown = memoryStep({ memory, user, thread, context: { layers: [...layers] } });
  const context = conversation(composePrepareStep(shown, () => ({ temperature: 0 })));
  const { id } = await memory.threads.create(user, {});
  const entries = createMemoryPrepareStep(cairnMemoryStore({ memory, user }));
  const own = conversation(composePrepareStep(memoryStep({ memory, user, thread: id }), entries));
  for (const { say } of [context, own]) await say("Hello");
  await entry("long answers");
  for (const { say } of [context, own]) await say("Hello again");
  const [first, second] = context.prompts();
  expect(second?.slice(0, first?.length)).toEqual(first);
  expect(systemOf(first)).toContain('[memory:tone]: "short answers"');
  expect(textOf(second?.at(-1))).toMatch(/\[memory:tone\]: \\"long answers\\".*Hello again/);
  // The SDK's own block is made anew for each run.
  const [before, after] = own.prompts().map(systemOf);
  expect(before).toContain('[memory:tone]: "short answers"');
  expect(after).toContain('[memory:tone]: "long answers"');
});
