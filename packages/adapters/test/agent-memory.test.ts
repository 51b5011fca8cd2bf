import { expect, expectTypeOf, it } from "vitest";
import { agentMemory, type AgentMemoryNamespace } from "../src/agent-memory.ts";
import { clientOf, newUser } from "./cairn.ts";
import { failing } from "./broken.ts";
import type { AgentMemoryNamespace as CloudflareNamespace } from "@cloudflare/workers-types/index.ts";

const profileOf = async (user = newUser()) => {
  const memory = await clientOf(user);
  return { user, memory, profile: await agentMemory({ memory }).getProfile(user) };
};
const said = (content: string, role: "user" | "assistant" = "user") => ({ role, content });

it("has the shape of Cloudflare's binding", () => {
  expectTypeOf<AgentMemoryNamespace>().toExtend<CloudflareNamespace>();
});

it("remembers, gets, lists, recalls and deletes", async () => {
  const { profile } = await profileOf();
  const memory = await profile.remember({ content: "I moved to Lisbon in March" });
  expect(memory).toMatchObject({ type: "fact", content: "I moved to Lisbon in March", sessionId: null });
  expect(memory.createdAt).toBeInstanceOf(Date);
  expect(await profile.get(memory.id)).toEqual(memory);
  const { content: _content, ...entry } = memory;
  expect(await profile.list()).toEqual({ memories: [entry] });
  const recalled = await profile.recall("where do I live?");
  expect(recalled).toMatchObject({
    count: 1,
    answer: "- I moved to Lisbon in March",
    candidates: [{ id: memory.id, summary: "I moved to Lisbon in March", sessionId: null }],
  });
  expect(await profile.delete(memory.id)).toEqual(memory);
  expect(await profile.list()).toEqual({ memories: [] });
  await expect(profile.get(memory.id)).rejects.toThrow("there is no memory");
  await expect(profile.delete(memory.id)).rejects.toThrow("there is no memory");
});

it("ingests a conversation over several turns once, and recalls what was said", async () => {
  const { profile, memory, user } = await profileOf();
  const turns = [said("I'm planning a trip to Kyoto in May."), said("How long?", "assistant")];
  const more = [...turns, said("Ten days, and I want to see the moss garden.")];
  await profile.ingest(turns, { sessionId: "trip" });
  await profile.ingest(more, { sessionId: "trip" });
  await profile.ingest(more, { sessionId: "trip" });
  const { items } = await memory.threads.list(user);
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ length: 3, agent: "agent-memory/trip" });
  const { candidates } = await profile.recall("moss garden");
  const [first] = candidates;
  expect(first).toMatchObject({ sessionId: "trip", summary: more[2]?.content });
  expect(await profile.get(first?.id ?? "")).toMatchObject({ type: "event", content: more[2]?.content });
});

it("rejects an ingest without messages, as the API does", async () => {
  const { profile, memory, user } = await profileOf();
  for (const options of [{}, { sessionId: "trip" }])
    await expect(profile.ingest([], options)).rejects.toMatchObject({
      status: 400,
      code: "invalid_request",
      details: [{ path: "body.messages", message: "must not be empty" }],
    });
  expect((await memory.threads.list(user)).items).toEqual([]);
});

it("keeps the times of messages", async () => {
  const { profile, memory, user } = await profileOf();
  const timestamp = new Date("2024-05-01T10:00:00Z");
  await profile.ingest([{ ...said("I got the job!"), timestamp }, said("Congratulations", "assistant")]);
  const [thread] = (await memory.threads.list(user)).items;
  const { items } = await memory.threads.read(thread?.id ?? "", { order: "oldest" });
  expect(items.map(({ createdAt }) => createdAt)).toEqual([timestamp.getTime(), timestamp.getTime()]);
});

it("lists and deletes a session with what was extracted from it, and nothing else", async () => {
  const { profile, memory, user } = await profileOf();
  await profile.remember({ content: "kept elsewhere" });
  const first = await profile.remember({ content: "of the session, by hand", sessionId: "s" });
  expect(first.sessionId).toBe("s");
  const { threadId } = await memory.ingest(user, {
    sessionId: "s",
    mode: "wait",
    messages: [said("I live in Porto."), said("Nice.", "assistant")],
    extracted: { facts: [{ subject: "user", predicate: "lives in", object: "Porto", sources: [0] }] },
  });
  await profile.ingest([said("I live in Porto."), said("Nice.", "assistant")], { sessionId: "s" });
  const all: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await profile.list({ sessionId: "s", limit: 1, ...(cursor !== undefined && { cursor }) });
    all.push(...page.memories.map(({ summary }) => summary));
    ({ cursor } = page);
  } while (cursor !== undefined);
  expect(all.toSorted()).toEqual(["I live in Porto.", "of the session, by hand"]);
  expect((await profile.getSummary({ sessionId: "s" })).summary).toContain("- I live in Porto.");
  await profile.deleteSession("s");
  await profile.deleteSession("s");
  expect((await profile.list()).memories.map(({ summary }) => summary)).toEqual(["kept elsewhere"]);
  expect(await memory.threads.get(threadId)).toBeNull();
});

it("deletes the messages that a memory was extracted from, with the memory", async () => {
  const { profile, memory, user } = await profileOf();
  const { threadId } = await memory.ingest(user, {
    mode: "wait",
    messages: [said("I live in Porto."), said("Nice.", "assistant")],
    extracted: { facts: [{ subject: "user", predicate: "lives in", object: "Porto", sources: [0] }] },
  });
  const [fact] = (await profile.list()).memories;
  await profile.delete(fact?.id ?? "");
  const { items } = await memory.threads.read(threadId, { order: "oldest" });
  expect(items.map(({ message }) => message.content)).toEqual(["Nice."]);
});

it("reaches no message of another user, whatever a memory names as its source", async () => {
  const [alice, mallory] = [newUser(), newUser()];
  const memory = await clientOf("*");
  const namespace = agentMemory({ memory });
  const thread = await memory.threads.resume(alice, { agent: "agent-memory/secret" });
  await memory.threads.append(thread.id, [said("Only Alice may read this.")]);
  const profile = await namespace.getProfile(mallory);
  const source = { thread: thread.id, message: 1 };
  const forged = await memory.memories.remember(mallory, { text: "forged", source });
  expect(await profile.get(forged.id)).toMatchObject({ sessionId: null });
  await profile.delete(forged.id);
  await expect(profile.get(`${thread.id}:1`)).rejects.toThrow("there is no memory");
  await expect(profile.delete(`${thread.id}:1`)).rejects.toThrow("there is no memory");
  expect(await memory.threads.get(thread.id)).toMatchObject({ length: 1 });
});

it("filters by type, and pages", async () => {
  const { profile, memory, user } = await profileOf();
  await memory.memories.remember(user, { kind: "episode", text: "We met in Porto." });
  await memory.memories.remember(user, { kind: "procedure", title: "deploy", text: "push, wait" });
  await profile.remember({ content: "I like tea" });
  const summaries = async (type: "fact" | "event" | "instruction" | "task") =>
    (await profile.list({ type })).memories.map(({ summary }) => summary);
  expect(await summaries("event")).toEqual(["We met in Porto."]);
  expect(await summaries("instruction")).toEqual(["deploy: push, wait"]);
  expect(await summaries("fact")).toEqual(["I like tea"]);
  expect(await summaries("task")).toEqual([]);
  const first = await profile.list({ limit: 2 });
  expect(first.memories).toHaveLength(2);
  const second = await profile.list({ limit: 2, cursor: first.cursor ?? "" });
  expect(second.memories).toHaveLength(1);
  expect(second.cursor).toBeUndefined();
  expect((await profile.getSummary()).summary).toBe(
    "## Facts\n\n- I like tea\n\n## Instructions\n\n- deploy: push, wait\n\n## Events\n\n- We met in Porto.",
  );
});

it("lets the caller's model write the answer", async () => {
  const user = newUser();
  const memory = await clientOf(user);
  const asked: unknown[] = [];
  const namespace = agentMemory({
    memory,
    synthesize: async (query, candidates, options) => {
      asked.push(
        query,
        candidates.map(({ text }) => text),
        options,
      );
      return "In Lisbon.";
    },
  });
  const profile = await namespace.getProfile(user);
  await profile.remember({ content: "I moved to Lisbon" });
  expect((await profile.recall("where?", { responseLength: "short" })).answer).toBe("In Lisbon.");
  expect(asked).toEqual(["where?", ["I moved to Lisbon"], { responseLength: "short" }]);
});

it("keeps profiles and namespaces apart, and deletes one as a whole", async () => {
  const name = newUser();
  const memory = await clientOf("*");
  const [one, other] = ["a/", "b/"].map((prefix) => agentMemory({ memory, prefix }));
  await (await one?.getProfile(name))?.remember({ content: "of one" });
  await (await other?.getProfile(name))?.remember({ content: "of the other" });
  const listed = async (namespace = one) =>
    (await (await namespace?.getProfile(name))?.list())?.memories.map(({ summary }) => summary);
  expect(await listed()).toEqual(["of one"]);
  await one?.deleteProfile(name);
  expect([await listed(), await listed(other)]).toEqual([[], ["of the other"]]);
});

it("refuses what it cannot honour", async () => {
  const { profile, memory } = await profileOf();
  expect(() => agentMemory({} as never)).toThrow("agentMemory: `memory` is missing");
  expect(() => agentMemory({ memory, namespace: "x" } as never)).toThrow("namespace");
  const namespace = agentMemory({ memory });
  await expect(namespace.getProfile("")).rejects.toThrow("1 to 100 characters");
  await expect(namespace.deleteProfile("x".repeat(101))).rejects.toThrow(TypeError);
  await expect(profile.recall("x", { thinkingLevel: "extreme" as never })).rejects.toThrow("thinkingLevel");
  await expect(profile.recall("x", { referenceDate: "soon" })).rejects.toThrow("referenceDate");
  await expect(profile.recall("x", { rerank: true } as never)).rejects.toThrow("`rerank` is no option");
  await expect(profile.list({ limit: 501 })).rejects.toThrow("1 to 500");
  await expect(profile.list({ type: "wish" as never })).rejects.toThrow("`type` is unknown");
  await expect(profile.ingest([{ role: "user" } as never])).rejects.toMatchObject({
    code: "invalid_request",
  });
});

it("rejects when Cairn is away", async () => {
  const user = newUser();
  const memory = await clientOf(user, { fetch: failing(503), retry: false });
  const profile = await agentMemory({ memory }).getProfile(user);
  await expect(profile.remember({ content: "x" })).rejects.toMatchObject({ code: "storage_unavailable" });
  await expect(profile.ingest([said("x")], { sessionId: "s" })).rejects.toMatchObject({
    code: "storage_unavailable",
  });
  await expect(profile.recall("x")).rejects.toMatchObject({ code: "storage_unavailable" });
});
