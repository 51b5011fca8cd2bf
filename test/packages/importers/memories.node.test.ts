// Memories of other systems.
import { describe, expect, it } from "vitest";
import * as exports from "./exports/index.ts";
import { day, found } from "./found.ts";

describe("mem0", () => {
  it("becomes facts of the users that it names", async () => {
    const { memories, remarks } = await found("mem0", exports.mem0.platform);
    expect(memories).toEqual([
      {
        user: "alice",
        externalId: "mem0:m1",
        text: "Alice lives in Lisbon",
        tags: ["places"],
        metadata: { project: "move", importedFrom: { agentId: "travel", cairnEntry: "k" } },
        source: { extractor: "mem0" },
        createdAt: Date.parse("2025-01-02T08:30:36.275Z"),
        updatedAt: day(3),
      },
      {
        user: "bob",
        externalId: "mem0:m2",
        text: "Bob plays the cello 🎻",
        source: { extractor: "mem0" },
        createdAt: Date.parse("2025-01-02T08:00:00Z"),
        updatedAt: Date.parse("2025-01-02T08:00:00Z"),
      },
    ]);
    expect(remarks).toEqual([
      "skipped 1 expired (m3)",
      "skipped 1 no user: name one with --user, or a field with --user-field (m4)",
      "skipped 1 ids that came before (m1)",
      "skipped 1 empty texts (m5)",
    ]);
  });

  it("takes the user that is named, or a field of the export", async () => {
    const one = await found("mem0", exports.mem0.platform, { user: "carol", scope: "trip" });
    expect(one.memories.map(({ user, scope }) => [user, scope])).toEqual([
      ["carol", "trip"],
      ["carol", "trip"],
      ["carol", "trip"],
    ]);
    const field = await found("mem0", exports.mem0.platform, { userField: "metadata.project" });
    expect(field.memories.map(({ user }) => user)).toEqual(["move"]);
  });

  it("keeps a memory through the day of its expiration", async () => {
    const row = { id: "a", memory: "b", user_id: "u", expiration_date: "2026-02-01" };
    expect((await found("mem0", [row])).memories[0]?.expiresAt).toBe(Date.UTC(2026, 1, 2) - 1);
  });

  it("takes the open-source package's answer, its relations, and version 1", async () => {
    const { memories, remarks } = await found("mem0", exports.mem0.oss, { user: "alice" });
    expect(memories.map(({ externalId, text }) => [externalId, text])).toEqual([
      ["mem0:o1", "Likes tea"],
      ["mem0:relation:alice/lives_in/lisbon", "alice lives in lisbon"],
    ]);
    expect(remarks).toEqual(["skipped 1 relations without both ends (alice knows)"]);
    expect((await found("mem0", exports.mem0.list)).memories[0]).toMatchObject({
      user: "alice",
      text: "Has a sister",
    });
  });

  it("makes a history its last state", async () => {
    const { memories, remarks } = await found("mem0", exports.mem0.history, { user: "alice" });
    expect(memories).toMatchObject([
      { externalId: "mem0:x", text: "Likes coffee", createdAt: day(1), updatedAt: day(4) },
    ]);
    expect(remarks).toEqual([
      "skipped 1 former versions (x)",
      "skipped 1 former versions (y)",
      "skipped 1 deleted in mem0 (y)",
    ]);
  });
});

describe("Zep", () => {
  it("makes edges facts with their times and the names of their nodes, and summaries reflections", async () => {
    const { memories, remarks } = await found("zep", exports.zep.graph, { user: "alice" });
    expect(memories).toMatchObject([
      {
        externalId: "zep:e1",
        text: "Alice lives in Porto",
        validFrom: day(1),
        validTo: day(3),
        updatedAt: day(4),
        metadata: {
          importedFrom: { relation: "LIVES_IN", source: "Alice", target: "Porto", sourceNode: "n1" },
        },
      },
      {
        externalId: "zep:e2",
        validFrom: day(3),
        metadata: { importedFrom: { source: "Alice", targetNode: "n3" } },
      },
      // Its end alone is known.
      { externalId: "zep:e3", validFrom: day(5) - 1, validTo: day(5) },
      { externalId: "zep:n1", kind: "reflection", text: "Alice: A cellist in Lisbon", tags: ["entity"] },
      { externalId: "zep:p2", kind: "episode", text: '{"plan":"pro"}' },
    ]);
    expect(memories[1]).not.toHaveProperty("validTo");
    expect(remarks).toEqual([
      "skipped 1 facts that end before they begin (e4)",
      "skipped 1 episodes that are messages: import the threads (p1)",
    ]);
  });

  it("takes the names of the SDK for TypeScript", async () => {
    const edge = {
      uuid: "e",
      fact: "f",
      validAt: "2025-01-01",
      expiredAt: "2025-01-03",
      createdAt: "2025-01-02",
    };
    const thread = {
      threadId: "t",
      userId: "u",
      messages: [{ content: "x", roleType: "assistant", createdAt: "2025-01-01" }],
    };
    const { memories, threads } = await found("zep", { edges: [edge], threads: [thread] }, { user: "u" });
    expect(memories).toMatchObject([{ validFrom: day(1), validTo: day(3), createdAt: day(2) }]);
    expect(threads[0]?.messages).toEqual([
      { createdAt: day(1), message: { role: "assistant", content: "x" } },
    ]);
  });

  it("makes threads and sessions threads", async () => {
    const { threads, remarks } = await found("zep", exports.zep.threads);
    expect(threads).toMatchObject([
      {
        user: "alice",
        messages: [
          {
            createdAt: day(1),
            message: { role: "user", name: "Alice", content: "I live in Porto", id: "z1" },
          },
          { createdAt: day(2), message: { role: "assistant", content: "Noted" } },
        ],
      },
    ]);
    expect(remarks).toEqual(["skipped 1 threads without a list of messages (t2)"]);
    const old = await found("zep", exports.zep.sessions, { user: "alice" });
    expect(old.threads[0]?.messages).toEqual([
      { createdAt: day(1), message: { role: "user", name: "john", content: "Hello", id: "y1" } },
    ]);
    expect(old.memories).toMatchObject([{ text: "John says hello", score: 0.4, quarantineBelow: 0 }]);
  });
});

it("supermemory becomes facts: entries, and documents with their content", async () => {
  const documents = await found("supermemory", exports.supermemory.documents);
  expect(documents.memories).toMatchObject([
    {
      user: "alice",
      externalId: "supermemory:d1",
      text: "Recipe\n\nBoil the pasta",
      tags: ["document"],
      metadata: { course: "main", importedFrom: { title: "Recipe", summary: "Pasta" } },
      createdAt: day(1),
      updatedAt: day(2),
    },
  ]);
  expect(documents.remarks).toEqual([
    "skipped 1 documents without content: list them with includeContent (d2)",
  ]);
  const entries = await found("supermemory", exports.supermemory.entries);
  expect(entries.memories).toMatchObject([
    { user: "alice", text: "Likes pasta", metadata: { metadata: "plain" } },
  ]);
  expect(entries.remarks).toEqual([
    "skipped 1 former versions (s0)",
    "skipped 1 forgotten in supermemory (s2)",
  ]);
});

describe("LangGraph", () => {
  it("makes items facts, with what is more than their text in the metadata", async () => {
    const { memories } = await found("langgraph", { items: exports.langgraph.items }, { user: "u" });
    expect(memories.map(({ externalId, text }) => [externalId, text])).toEqual([
      ["langgraph:memories/alice/k1", "Likes tea"],
      ["langgraph:memories/bob/k1", "Plays the cello"],
      ["langgraph:profile/p", '{"name":"Alice","age":40}'],
    ]);
    expect(memories[0]).toMatchObject({
      createdAt: Date.parse("2025-01-02T03:04:05.678Z"),
      metadata: { importedFrom: { namespace: ["memories", "alice"], key: "k1" } },
    });
    expect(memories[1]?.metadata).toMatchObject({ importedFrom: { value: { kind: "Memory" } } });
    const lines = exports.langgraph.items.map((item) => JSON.stringify(item)).join("\n");
    const users = await found("langgraph", lines, { userField: "namespace.1" });
    expect(users.memories.map(({ user }) => user)).toEqual(["alice", "bob"]);
    const rows = await found("langgraph", exports.langgraph.rows, { user: "u" });
    expect(rows.memories).toMatchObject([{ externalId: "langgraph:memories/alice/k2", text: "Has a dog" }]);
  });

  it("makes messages of any form messages", async () => {
    const { threads, remarks } = await found("langgraph", exports.langgraph.threads, { user: "u" });
    expect(threads[0]?.messages.map(({ message }) => message)).toEqual([
      { role: "user", content: "Weather?", id: "a" },
      { role: "assistant", content: "", id: "b", tool_calls: [{ name: "weather", args: {}, id: "c1" }] },
      { role: "tool", content: "sunny", tool_call_id: "c1", id: "c" },
      { role: "assistant", content: "Sunny", id: "d" },
      { role: "user", content: "Thanks" },
    ]);
    expect(threads[1]?.messages).toEqual([{ createdAt: day(4), message: { role: "user", content: "Hi" } }]);
    expect(remarks).toContain("skipped 1 threads without messages (g3)");
    const binary = { thread_id: "g", values: { messages: "gASV" } };
    await expect(found("langgraph", [binary], { user: "u" })).rejects.toThrow("[0].messages: is no list");
  });
});
