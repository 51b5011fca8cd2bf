// Memory in the prompts of Mastra's agents, beside Mastra's own Memory over Cairn.
import { RequestContext } from "@mastra/core/request-context";
import { Memory } from "@mastra/memory";
import { describe, expect, it } from "vitest";
import { cairnProcessor, type CairnProcessorOptions, cairnStorage } from "../src/mastra.ts";
import type { CairnOptions } from "../../client/src/index.ts";
import { clientOf, newUser } from "./cairn.ts";
import {
  agentWith,
  bytesOf,
  type Config,
  type Prompt,
  type Said,
  scripted,
  textsOf,
  weather,
} from "./mastra-agent.ts";

async function begin(
  more: {
    client?: Partial<CairnOptions>;
    tools?: Config["tools"];
  } & Partial<CairnProcessorOptions> = {},
) {
  const { client, tools = { weather: weather() }, ...options } = more;
  const user = newUser();
  const memory = await clientOf(user);
  await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
  const script: Said[] = [];
  const { prompts, model } = scripted(script);
  /** A new agent for each turn, as another process has it. */
  const say = async (text: string) => {
    const given = await clientOf(user, client);
    const agent = agentWith({
      model,
      memory: new Memory({ storage: cairnStorage({ memory, user }), options: { lastMessages: 50 } }),
      inputProcessors: [cairnProcessor({ memory: given, user, strict: true, ...options })],
      tools,
    });
    return agent.generate(text, { memory: { thread: "trip", resource: "alice" } });
  };
  return { user, memory, prompts, script, model, say };
}

function expectGrowth(prompts: readonly Prompt[]): void {
  for (const [i, prompt] of prompts.entries()) {
    const before = bytesOf(prompts[i - 1] ?? []);
    expect(bytesOf(prompt).slice(0, before.length)).toEqual(before);
  }
}

describe("an agent's prompts", () => {
  it("begin with the one before, over turns, tools and changes of what is known", async () => {
    const { user, memory, prompts, script, say } = await begin();
    await say("In which city do I live?");
    await memory.memories.remember(user, { text: "I eat no fish." });
    await say("Which fish should I eat?");
    await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Faro" });
    script.push({ tool: "weather", input: { place: "Faro" } }, "Sunny.");
    await say("How is the weather?");
    await say("Thanks, and which city is mine?");
    await say("Thanks!");
    expect(prompts).toHaveLength(6);
    expectGrowth(prompts);
    const texts = textsOf(prompts.at(-1) ?? []);
    expect(texts.slice(0, 2)).toEqual([
      "system | You are a guide.",
      expect.stringMatching(/^system \| .*lives in Porto/s),
    ]);
    expect(texts.find((text) => text.endsWith("Which fish should I eat?"))).toContain("I eat no fish.");
    expect(texts.find((text) => text.endsWith("How is the weather?"))).toContain("Faro");
  });

  it("have memory, while what Mastra stores has none", async () => {
    const { user, memory, say } = await begin();
    await say("In which city do I live?");
    const storage = await cairnStorage({ memory, user }).getStore("memory");
    const { messages } = (await storage?.listMessages({ threadId: "trip" })) ?? { messages: [] };
    expect(JSON.stringify(messages)).not.toContain("Porto");
    // One Cairn thread, which keeps both the messages and their blocks.
    expect((await memory.threads.list(user)).items).toMatchObject([{ agent: "mastra", recordId: "trip" }]);
  });

  it("have the same memory in every step of a run, whatever is written in between", async () => {
    const storm = weather(async () => memory.memories.remember(user, { text: "I like storms." }));
    const { user, memory, prompts, script, say } = await begin({ tools: { weather: storm } });
    script.push(
      { tool: "weather", input: { place: "Faro" } },
      { tool: "weather", input: { place: "Porto" } },
      "Sunny.",
    );
    await say("How is the weather here?");
    expect(prompts).toHaveLength(3);
    expectGrowth(prompts);
  });

  it("are the same through `stream`", async () => {
    const { user, memory, prompts, model } = await begin();
    const inputProcessors = [cairnProcessor({ memory, user, thread: { agent: "guide" } })];
    const agent = agentWith({ model, inputProcessors });
    const { text } = await agent.stream("In which city do I live?");
    expect(await text).toBe("Fine.");
    await agent.generate("In which city do I live?");
    const [streamed = [], generated = []] = prompts;
    expect(textsOf(streamed)).toEqual(textsOf(generated));
    expect(textsOf(streamed)[1]).toContain("Porto");
  });

  it("have memory without a thread too", async () => {
    const { user, memory, prompts, model } = await begin();
    const agent = agentWith({ model, inputProcessors: [cairnProcessor({ memory, user })] });
    await agent.generate("In which city do I live?");
    expect(textsOf(prompts[0] ?? [])[1]).toContain("Porto");
    expect((await memory.threads.list(user)).items).toEqual([]);
  });

  it("have the memory of the user whom the request names", async () => {
    const [ann, bob] = await Promise.all([begin(), begin()]);
    await bob.memory.memories.remember(bob.user, { subject: "user", predicate: "lives in", object: "Faro" });
    const agent = agentWith({
      model: ann.model,
      inputProcessors: ({ requestContext }) => {
        const { user, memory } = requestContext.get("who") === "ann" ? ann : bob;
        return [cairnProcessor({ memory, user })];
      },
    });
    for (const who of ["ann", "bob"])
      await agent.generate("Hello", { requestContext: new RequestContext([["who", who]]) });
    expect(ann.prompts.map((prompt) => /Porto|Faro/.exec(textsOf(prompt)[1] ?? "")?.[0])).toEqual([
      "Porto",
      "Faro",
    ]);
  });

  it("have it again after another client deleted the Cairn thread", async () => {
    const { user, memory, prompts, say } = await begin();
    await say("In which city do I live?");
    const [{ id } = { id: "" }] = (await memory.threads.list(user)).items;
    await memory.threads.delete(id);
    await say("And where?");
    expect(textsOf(prompts.at(-1) ?? [])[1]).toContain("Porto");
  });
});

describe("a Cairn that fails", () => {
  const client = { retry: false, fetch: () => Promise.reject(new TypeError("refused")) } as const;

  it("breaks no answer, and `onError` is told", async () => {
    const told: unknown[] = [];
    const { prompts, say } = await begin({
      client,
      strict: false,
      onError: (error, failure) => told.push([String(error), failure]),
    });
    expect((await say("Hello")).text).toBe("Fine.");
    expect(textsOf(prompts[0] ?? [])).toEqual(["system | You are a guide.", "user | Hello"]);
    expect(told).toEqual([[expect.stringContaining("refused"), { doing: "context" }]]);
  });

  it("fails the run if memory is required", async () => {
    const { say } = await begin({ client });
    await expect(say("Hello")).rejects.toThrow("refused");
  });
});
