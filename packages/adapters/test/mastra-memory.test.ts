// Mastra's own Memory over Cairn, by what the model of an agent is sent.
import { Memory } from "@mastra/memory";
import { describe, expect, it } from "vitest";
import { cairnSemanticRecall, cairnStorage } from "../src/mastra.ts";
import { clientOf, newUser } from "./cairn.ts";
import { agentWith, type Said, scripted, textsOf } from "./mastra-agent.ts";

type Options = NonNullable<NonNullable<ConstructorParameters<typeof Memory>[0]>["options"]>;

async function begin(options: Options) {
  const user = newUser();
  const client = await clientOf(user);
  const script: Said[] = [];
  const { prompts, model } = scripted(script);
  /** A new Memory, as another process has it. */
  const memory = () =>
    new Memory({
      storage: cairnStorage({ memory: client, user }),
      ...cairnSemanticRecall({ memory: client, user }),
      options,
    });
  const say = async (text: string, { thread = "trip", resource = "alice" } = {}): Promise<string> => {
    await agentWith({ model, memory: memory() }).generate(text, { memory: { thread, resource } });
    return textsOf(prompts.at(-1) ?? []).join("\n");
  };
  return { user, client, script, prompts, memory, say };
}

describe("semantic recall", () => {
  it("recalls what was said in this thread before the last messages", async () => {
    const { say } = await begin({
      lastMessages: 2,
      semanticRecall: { topK: 1, messageRange: 0, scope: "thread" },
    });
    await say("My boat is called Marisol.");
    for (const text of ["I like tea.", "It rains.", "The train is late."]) await say(text);
    expect(await say("What is the name of my boat?")).toContain("Marisol");
    expect(await say("Is it cold?")).not.toContain("Marisol");
    expect(await say("What is the name of my boat?", { thread: "work" })).not.toContain("Marisol");
  });

  it("recalls what was said in another thread of the same resource only", async () => {
    const { say } = await begin({
      lastMessages: 2,
      semanticRecall: { topK: 2, messageRange: 0, scope: "resource" },
    });
    await say("My boat is called Marisol.");
    await say("My boat is called Petrel.", { thread: "home", resource: "bob" });
    const prompt = await say("What is the name of my boat?", { thread: "work" });
    expect(prompt).toContain("Marisol");
    expect(prompt).not.toContain("Petrel");
  });

  it("finds no deleted message, and none of another client", async () => {
    const { user, client, memory, say } = await begin({
      lastMessages: 2,
      semanticRecall: { topK: 3, messageRange: 0 },
    });
    const { id } = await client.threads.create(user);
    await client.threads.append(id, [{ role: "user", content: "My boat is called Petrel." }]);
    await say("My boat is called Marisol.");
    const search = {
      threadId: "trip",
      resourceId: "alice",
      perPage: 0,
      vectorSearchString: "the name of my boat",
    };
    const { messages } = await memory().recall(search);
    expect(JSON.stringify(messages)).toContain("Marisol");
    expect(JSON.stringify(messages)).not.toContain("Petrel");
    await memory().deleteMessages(messages.map((message) => message.id));
    expect((await memory().recall(search)).messages).toEqual([]);
  });

  it("stores nothing besides the messages", async () => {
    const { user, client, say } = await begin({ semanticRecall: true });
    await say("My boat is called Marisol.");
    const keys = (await client.kv.list(user)).items.map(({ key }) => key.replace(/[^/]+$/, ""));
    expect([...new Set(keys)]).toEqual(["mastra/messages/", "mastra/threads/"]);
  });

  it("takes long texts, and any Unicode", async () => {
    const { memory, say } = await begin({ semanticRecall: { topK: 2, messageRange: 0 } });
    await say(`Мой кот 🐈 — Борис. ${"Он спит. ".repeat(3_000)}`);
    const search = { threadId: "trip", resourceId: "alice", perPage: 0, vectorSearchString: "Борис 🐈" };
    expect(JSON.stringify((await memory().recall(search)).messages)).toContain("Борис");
  });

  it("refuses another embedder's vectors, filters that it cannot meet, and what are no messages", async () => {
    const user = newUser();
    const { vector } = cairnSemanticRecall({ memory: await clientOf(user), user });
    const queryVector = [0.1, 0.2];
    await expect(vector.query({ indexName: "i", queryVector })).rejects.toThrow("another embedder");
    await expect(vector.query({ indexName: "i", filter: { thread_id: "t" } })).rejects.toThrow(
      "`queryVector` is missing",
    );
    const { embedder } = cairnSemanticRecall({ memory: await clientOf(user), user });
    const { embeddings } = (await (
      embedder.doEmbed as (given: object) => Promise<{ embeddings: number[][] }>
    )({
      values: ["hello"],
    })) satisfies object;
    const [hello] = embeddings;
    await expect(
      vector.query({ indexName: "i", queryVector: hello ?? [], filter: { colour: "red" } }),
    ).rejects.toThrow("the filter `colour` is not supported");
    await expect(
      vector.upsert({ indexName: "docs", vectors: embeddings, metadata: [{ text: "hello" }] }),
    ).rejects.toThrow("the index `docs` takes messages only");
  });
});

describe("working memory", () => {
  it.each(["resource", "thread"] as const)(
    "of a %s is written by the agent and shown to it again",
    async (scope) => {
      const { script, say } = await begin({
        lastMessages: 10,
        workingMemory: { enabled: true, scope, template: "# User" },
      });
      script.push({ tool: "updateWorkingMemory", input: { memory: "# User\n- boat: Marisol" } }, "Noted.");
      await say("My boat is called Marisol.");
      expect(await say("Hello")).toContain("- boat: Marisol");
      const isShared = (await say("Hello", { thread: "work" })).includes("- boat: Marisol");
      expect(isShared).toBe(scope === "resource");
      expect(await say("Hello", { thread: "bob's", resource: "bob" })).not.toContain("Marisol");
    },
  );
});
