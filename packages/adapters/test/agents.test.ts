// The block in the SDK's own ContextBlocks, and sessions as `agents/sessions` gives them.
import { ContextBlocks } from "agents/context";
import { describe, expect, it } from "vitest";
import { cairnMemoryBlock, cairnSessionIngest, type ReadSession } from "../src/agents.ts";
import { failing } from "./broken.ts";
import { clientOf, newUser } from "./cairn.ts";

type Tools = Record<string, { execute?: (input: object, call: object) => unknown }>;

describe("a block of agents/context", () => {
  const blocksOf = async (user: string, options: object = {}) => {
    const memory = await clientOf(user);
    const provider = cairnMemoryBlock({ memory, user, ...options });
    const context = new ContextBlocks([{ label: "memory", description: "The user", provider }]);
    return { memory, context };
  };

  it("is in the system prompt, frozen over turns, and searched by the model", async () => {
    const user = newUser();
    const { memory, context } = await blocksOf(user);
    await memory.memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
    const first = await context.freezeSystemPrompt();
    expect(first).toContain("lives in Porto");
    await memory.memories.remember(user, { text: "I like green tea" });
    expect(await context.freezeSystemPrompt()).toBe(first);
    expect(await context.refreshSystemPrompt()).toContain("green tea");
    const tools = (await context.tools()) as Tools;
    const found = await tools["search_context"]?.execute?.({ label: "memory", query: "tea" }, {});
    expect(JSON.stringify(found)).toContain("I like green tea");
    expect(tools["set_context"]).toBeUndefined();
  });

  it("stores what the model sets, with the trust of a model, and replaces it by its key", async () => {
    const user = newUser();
    const { memory, context } = await blocksOf(user, { writable: true });
    await context.freezeSystemPrompt();
    const tools = (await context.tools()) as Tools;
    const set = async (content: string) =>
      tools["set_context"]?.execute?.({ label: "memory", content, metadata: { title: "diet" } }, {});
    await set("The user is a vegetarian.");
    await set("The user is a vegan.");
    const { items } = await memory.memories.list(user);
    expect(items).toMatchObject([
      { text: "The user is a vegan.", trust: "model", writtenBy: { adapter: "agents" } },
    ]);
  });

  it("tells the model that what it sets waits for review, where a person said otherwise", async () => {
    const user = newUser();
    const { memory, context } = await blocksOf(user, { writable: true });
    const provider = cairnMemoryBlock({ memory, user, writable: true });
    await memory.memories.remember(user, { key: "diet", text: "The user is a vegan." });
    await expect(provider.set?.("diet", "The user eats meat.")).rejects.toThrow("Kept for review");
    await context.freezeSystemPrompt();
    const tools = (await context.tools()) as Tools;
    const call = { label: "memory", content: "The user eats meat.", metadata: { title: "diet" } };
    const answer = await Promise.resolve(tools["set_context"]?.execute?.(call, {})).catch(String);
    expect(JSON.stringify(answer)).toContain("Kept for review");
    expect((await memory.memories.list(user)).items).toMatchObject([{ text: "The user is a vegan." }]);
  });

  it("is empty while Cairn is away, and says so", async () => {
    const user = newUser();
    const memory = await clientOf(user, { fetch: failing(503), retry: false });
    const errors: unknown[] = [];
    const block = cairnMemoryBlock({ memory, user, onError: (error) => errors.push(error) });
    expect([await block.get(), await block.search("tea")]).toEqual([null, null]);
    expect(errors).toHaveLength(2);
    const strict = cairnMemoryBlock({ memory, user, strict: true });
    await expect(strict.search("tea")).rejects.toMatchObject({ code: "storage_unavailable" });
  });

  it("refuses invalid options", async () => {
    const memory = await clientOf(newUser());
    expect(() => cairnMemoryBlock({ memory, user: "" })).toThrow("`user` is missing");
    expect(() => cairnMemoryBlock({ memory, user: "u", k: 0 })).toThrow("`k` must be");
    expect(() => cairnMemoryBlock({ memory, user: "u", limit: 3 } as never)).toThrow("limit");
  });
});

describe("the ingest of agents/sessions", () => {
  type Message = { id: string; role: string; parts: { type: string; text: string }[] };
  const message = (id: string, role: string, text: string): Message => ({
    id,
    role,
    parts: [{ type: "text", text }],
  });
  const sessionOf = (messages: Message[], sessionId = ""): ReadSession => ({
    sessionId,
    getRecentHistory: async () => ({ messages: [...messages] }),
  });

  it("stores each turn once, finds its words, and leaves out summaries and instructions", async () => {
    const user = newUser();
    const memory = await clientOf(user);
    const ingest = cairnSessionIngest({ memory, user, name: "chat-1", afterMs: 0 });
    const messages = [message("m0", "system", "Be kind."), message("m1", "user", "I live in Porto.")];
    const session = sessionOf(messages);
    await ingest.afterTurn(session);
    await ingest.settle();
    messages.push(
      message("compaction_1", "assistant", "A summary."),
      message("m2", "assistant", "Nice town."),
    );
    messages.push(message("m3", "user", "I work as a luthier."));
    await ingest.afterTurn(session);
    await ingest.settle();
    await ingest.afterTurn(session);
    await ingest.settle();
    const { items } = await memory.threads.list(user);
    expect(items).toMatchObject([{ length: 3 }]);
    expect((await memory.recall(user, { query: "luthier" })).hits[0]?.text).toContain("luthier");
    expect(ingest.pending).toEqual([]);
  });

  it("keeps what failed, and sends it with the next turn", async () => {
    const user = newUser();
    const errors: unknown[] = [];
    const memory = await clientOf(user, { fetch: failing(503, { times: 1 }), retry: false });
    const ingest = cairnSessionIngest({
      memory,
      user,
      name: "chat-1",
      afterMs: 0,
      onError: (_error, failure) => errors.push(failure),
    });
    const messages = [message("m1", "user", "I live in Porto.")];
    await ingest.afterTurn(sessionOf(messages, "side"));
    await ingest.settle();
    expect(ingest.pending).toEqual(["chat-1/side"]);
    messages.push(message("m2", "assistant", "Nice."));
    await ingest.afterTurn(sessionOf(messages, "side"));
    await ingest.settle();
    expect(ingest.pending).toEqual([]);
    expect(errors).toEqual([{ doing: "ingest", conversation: "chat-1/side" }]);
    expect((await memory.threads.list(user)).items).toMatchObject([{ length: 2 }]);
  });

  describe("of messages that change", () => {
    type Part = { type: string; [field: string]: unknown };
    const said = (id: string, role: string, ...parts: Part[]) => ({ id, role, parts });
    const text = (words: string): Part => ({ type: "text", text: words });
    /** A call of a tool, as the SDK keeps it in one part while it goes on. */
    const call = (state: string, more: object = {}): Part => ({
      type: "tool-order",
      toolCallId: "c1",
      state,
      input: { tea: "rooibos" },
      ...more,
    });
    const question = said("m1", "user", text("Order some tea."));
    const approval = { id: "a1", approved: true };
    /** The answer of one turn, as it is stored from one moment to the next. */
    const grown = [
      said("m2", "assistant", text("I would zqvxgone")),
      said(
        "m2",
        "assistant",
        text("I would order rooibos."),
        call("approval-requested", { approval: { id: "a1" } }),
      ),
      said("m2", "assistant", text("I would order rooibos."), call("approval-responded", { approval })),
      said(
        "m2",
        "assistant",
        text("I would order rooibos."),
        call("output-available", { approval, output: "ordered" }),
        text("The rooibos is ordered."),
      ),
    ];
    const whole = grown.slice(-1);
    const next = [said("m3", "user", text("And some honey?")), said("m4", "assistant", text("Done."))];

    const begin = async (more: object = {}) => {
      const user = newUser();
      const memory = await clientOf(user, more);
      const plain = await clientOf(user);
      const made = () => cairnSessionIngest({ memory, user, name: "chat-1", afterMs: 0, onError: () => {} });
      const after = async (ingest: ReturnType<typeof made>, messages: ReturnType<typeof said>[]) => {
        await ingest.afterTurn({ sessionId: "", getRecentHistory: async () => ({ messages }) });
        await ingest.settle();
      };
      const stored = async () => {
        const { items } = await plain.threads.list(user);
        expect(items).toHaveLength(1);
        const all = [];
        for await (const one of plain.threads.messages(items[0]?.id ?? "")) all.push(one);
        return all;
      };
      return { user, plain, made, after, stored };
    };

    it("holds an answer once while it is streamed, approved and continued, and finds what it says now", async () => {
      const { user, plain, made, after, stored } = await begin();
      const ingest = made();
      for (const answer of grown) await after(ingest, [question, answer]);
      await after(ingest, [question, ...whole, ...next]);
      const all = await stored();
      expect(all.map((stands) => stands.message)).toEqual([question, ...whole, ...next]);
      expect(all.map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
      const hits = async (query: string) =>
        (await plain.recall(user, { query, minScore: 0 })).hits.map(({ text: found }) => found).join();
      expect(await hits("rooibos")).toContain("The rooibos is ordered.");
      expect(await hits("zqvxgone")).not.toContain("zqvxgone");
    });

    it("holds it once after a failed call, and from another process", async () => {
      const { made, after, stored } = await begin({ fetch: failing(503, { times: 1 }), retry: false });
      const [one, other] = [made(), made()];
      await after(one, [question, ...grown.slice(0, 1)]);
      await after(one, [question, ...grown.slice(1, 2)]);
      await after(other, [question, ...grown.slice(1, 2)]);
      await Promise.all([after(one, [question, ...whole]), after(other, [question, ...whole])]);
      await after(other, [...whole, ...next]);
      await after(one, [question, ...whole, ...next]);
      expect((await stored()).map((stands) => stands.message)).toEqual([question, ...whole, ...next]);
    });

    it("changes an earlier answer in its place", async () => {
      const { made, after, stored } = await begin();
      const ingest = made();
      await after(ingest, [question, ...grown.slice(1, 2), ...next]);
      await after(ingest, [question, ...whole, ...next]);
      await after(made(), [question, ...whole, ...next]);
      expect((await stored()).map((stands) => stands.message)).toEqual([question, ...whole, ...next]);
    });
  });
});
