// Dex cannot be had: the extension in another host, the real AI SDK, wired as docs/adapters/dex.md says.
import { generateText, isStepCount, jsonSchema, type ModelMessage, tool } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { expect, it } from "vitest";
import { agent, found } from "./dex.ts";

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
const usage: Generated["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 1, text: 1, reasoning: undefined },
};

/** A model that stores a procedure, and then says that it did. */
const model = () =>
  new MockLanguageModelV4({
    doGenerate: ({ prompt }) =>
      Promise.resolve<Generated>(
        prompt.at(-1)?.role === "tool"
          ? {
              content: [{ type: "text", text: "I keep that in mind." }],
              finishReason: { unified: "stop", raw: undefined },
              usage,
              warnings: [],
            }
          : {
              content: [
                {
                  type: "tool-call",
                  toolCallId: "call-1",
                  toolName: "memory_store_procedure",
                  input: JSON.stringify({ title: "deploy-shop", body: "Run wrangler deploy." }),
                },
              ],
              finishReason: { unified: "tool-calls", raw: undefined },
              usage,
              warnings: [],
            },
      ),
  });

type Extension = Awaited<ReturnType<typeof agent>>["extension"];

/** One turn of a host that is the AI SDK: what the model was sent, and the conversation after it. */
async function run(extension: Extension, messages: ModelMessage[]) {
  const mock = model();
  const tools = Object.fromEntries(
    extension.tools.map(({ name, description, inputSchema, execute }) => [
      name,
      tool({
        description,
        inputSchema: jsonSchema(inputSchema),
        execute: (args: unknown, { abortSignal }) => execute(args, { signal: abortSignal }),
      }),
    ]),
  );
  const { responseMessages } = await generateText({
    model: mock,
    messages,
    tools,
    stopWhen: isStepCount(3),
    prepareStep: async (step) => ({ messages: await extension.inject(step.messages) }),
  });
  const conversation = [...messages, ...responseMessages];
  extension.afterTurn(conversation);
  return { sent: mock.doGenerateCalls.map(({ prompt }) => prompt), conversation };
}

it("is the memory of an agent of the AI SDK: its tools, its block, and what it keeps of a turn", async () => {
  // A clock that moves on, so that a block that is made again has another text.
  let now = Date.UTC(2026, 0, 1);
  const { extension, asked, memory, owner, ...rest } = await agent({
    model: () => found("We wrote down how to deploy the shop."),
    now: () => (now += 60_000),
  });
  const first = await run(extension, [
    { role: "user", content: "This is how we deploy the shop: wrangler deploy." },
  ]);
  await extension.dispose();
  // The second step had something to recall, but the turn began without a block.
  expect(first.sent).toHaveLength(2);
  expect(JSON.stringify(first.sent)).not.toContain("<memory>\\n");
  expect((await memory.memories.list(owner)).items).toMatchObject([
    { title: "deploy-shop", text: "Run wrangler deploy." },
  ]);
  expect(asked).toHaveLength(1);
  expect(asked[0]?.prompt).toContain("memory_store_procedure");
  expect(asked[0]?.prompt).toContain("I keep that in mind.");

  const next: ModelMessage[] = [...first.conversation, { role: "user", content: "Deploy the shop." }];
  const second = await run(extension, next);
  expect(second.sent).toHaveLength(2);
  const [before, after] = second.sent.map((prompt) => JSON.stringify(prompt.slice(0, next.length + 1)));
  expect(after).toBe(before);
  for (const prompt of second.sent) {
    const blocks = prompt.flatMap(({ content }, at) =>
      JSON.stringify(content).includes("<memory>\\n") ? [at] : [],
    );
    expect(blocks).toEqual([first.conversation.length]);
    expect(JSON.stringify(prompt[blocks[0] ?? 0])).toContain("- [deploy-shop] (id: ");
    expect(JSON.stringify(prompt[blocks[0] ?? 0])).toContain("We wrote down how to deploy the shop.");
  }
  expect(
    second.conversation.some(({ content }) => JSON.stringify(content).includes("<memory>\\nRecent")),
  ).toBe(false);
  await extension.dispose();
  expect(asked).toHaveLength(2);
  expect(asked[1]?.prompt).not.toContain("This is how we deploy");
  expect(rest.errors).toEqual([]);
});
