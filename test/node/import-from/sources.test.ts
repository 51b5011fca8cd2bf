// The items that the importers read, before anything is sent.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { filesOf } from "../../../scripts/import-from/files.ts";
import { type Item, itemsOf } from "../../../scripts/import-from/items.ts";
import type { SourceName } from "../../../scripts/import-from/source.ts";
import { sources } from "../../../scripts/import-from/sources/index.ts";
import * as exports from "./exports.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-import-from-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const NOW = Date.UTC(2026, 0, 1);
let files = 0;

/** All that is read, in two passes as the command makes them. */
async function found(
  name: SourceName,
  content: unknown,
  options: { user?: string; userField?: string; scope?: string } = {},
) {
  const path = join(folder, `${++files}.json`);
  writeFileSync(
    path,
    typeof content === "string" || content instanceof Uint8Array ? content : JSON.stringify(content),
  );
  const source = sources[name];
  const given = { user: undefined, userField: undefined, scope: undefined, ...options };
  const pass = {
    name,
    source,
    files: await filesOf([path], source),
    now: NOW,
    names: new Map<string, string>(),
    ...given,
  };
  const all: Item[] = [];
  for await (const _ of itemsOf(pass, "")) continue;
  for await (const item of itemsOf(pass, "")) all.push(item);
  return {
    memories: all.flatMap((item) => (item.type === "memory" ? [{ user: item.user, ...item.memory }] : [])),
    threads: all.flatMap((item) => (item.type === "thread" ? [{ user: item.user, ...item.thread }] : [])),
    remarks: all.flatMap((item) =>
      item.type === "skipped" || item.type === "changed"
        ? [`${item.type} ${item.count ?? 1} ${item.reason} (${item.example})`]
        : [],
    ),
  };
}
const day = (n: number): number => Date.UTC(2025, 0, n);

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

describe("ChatGPT", () => {
  it("makes the branch that was shown last a thread, with its times", async () => {
    const { threads, remarks } = await found("chatgpt", exports.chatgpt, { user: "u" });
    const [dogs, second] = threads;
    expect(dogs?.title).toBe("Dogs");
    expect(JSON.parse(dogs?.lines[0] ?? "")).toMatchObject({
      agent: "chatgpt",
      createdAt: day(1),
      updatedAt: day(4),
      lastSeq: 10,
    });
    expect(
      dogs?.messages.map(({ message: { role, content }, createdAt }) => [role, content, createdAt]),
    ).toEqual([
      [
        "user",
        [
          { type: "image_asset_pointer", asset_pointer: "file-service://file-1", width: 1 },
          { type: "text", text: "Look 🐶" },
        ],
        day(1),
      ],
      // Without a time of its own.
      ["assistant", "assistant a1", day(1)],
      ["assistant", [{ type: "reasoning", text: "S\nC" }], day(2)],
      ["assistant", "Likes green tea.", day(2)],
      ["tool", "Model set context updated.", day(2)],
      ["assistant", "print(1)", day(3)],
      ["tool", "1", day(3)],
      ["tool", [{ type: "text", text: "Quoted", title: "T", url: "https://example.com" }], day(3)],
      ["assistant", [{ type: "super_widget", widget: { a: 1 } }], day(3)],
      ["user", "Thanks", day(4)],
    ]);
    expect(second?.title).toBe("New conversation");
    expect(second?.messages.map(({ message }) => message.content)).toEqual(["user b", "assistant c"]);
    expect(remarks.toSorted()).toEqual([
      "changed 1 files: only their names or references are kept (Dogs)",
      "changed 1 messages of other kinds: kept, and not searched (Dogs)",
      "changed 1 messages without a time: that of the message before, or of the thread (Dogs)",
      "skipped 1 conversations without messages (Nothing)",
      "skipped 1 custom instructions, which each conversation repeats (Dogs)",
      "skipped 1 empty messages (Dogs)",
      "skipped 1 lists of saved memories, which become memories (Dogs)",
      "skipped 1 messages before a gap in the conversation (c2)",
      "skipped 1 messages on other branches of their conversation (Dogs)",
      "skipped 1 messages on other branches of their conversation (c2)",
      "skipped 1 notes on the time that the model thought (Dogs)",
    ]);
  });

  it("makes saved memories facts, once each", async () => {
    const { memories, threads } = await found("chatgpt", exports.chatgpt, { user: "u" });
    expect(memories).toMatchObject([
      { text: "Has a dog.\nIts name is Rex.", tags: ["saved-memory"], createdAt: Date.UTC(2024, 11, 31) },
      { text: "Lives in Lisbon.", createdAt: day(1) },
      { text: "Likes green tea.", createdAt: day(2), source: { thread: threads[0]?.id, message: "bio" } },
    ]);
  });

  it("ends a path that is a circle", async () => {
    const message = (id: string) => ({
      author: { role: "user" },
      content: { content_type: "text", parts: [id] },
    });
    const mapping = { a: { parent: "b", message: message("a") }, b: { parent: "a", message: message("b") } };
    const { threads } = await found("chatgpt", [{ id: "c", mapping, current_node: "a" }], { user: "u" });
    expect(threads[0]?.messages).toHaveLength(2);
  });
});

describe("Claude", () => {
  it("makes the branch that was written last a thread", async () => {
    const { threads, remarks } = await found("claude", exports.claude.conversations, { user: "u" });
    expect(threads).toHaveLength(1);
    expect(JSON.parse(threads[0]?.lines[0] ?? "")).toMatchObject({
      title: "Boats",
      metadata: { importedFrom: { source: "claude", id: "k1", summary: "They spoke of boats." } },
    });
    expect(threads[0]?.messages.map(({ message }) => message)).toEqual([
      {
        role: "user",
        id: "q1",
        content: [
          { type: "text", text: "See the file" },
          { type: "file", name: "a.txt", mediaType: "txt", text: "masts" },
          { type: "file", name: "photo.png" },
        ],
      },
      {
        role: "assistant",
        id: "q3",
        content: [
          { type: "thinking", thinking: "hm", summaries: [] },
          { type: "tool_use", name: "web", input: { q: "boat" }, id: "t" },
          { type: "tool_result", tool_use_id: "t", content: [] },
          { type: "text", text: "Second answer" },
        ],
      },
      { role: "user", id: "q4", content: "Old exports have the text alone" },
    ]);
    expect(remarks.toSorted()).toEqual([
      "changed 1 files: only their names or references are kept (Boats)",
      "skipped 1 conversations without messages (k2)",
      "skipped 1 empty messages (Boats)",
      "skipped 1 messages on other branches of their conversation (Boats)",
    ]);
  });

  it("keeps all messages of an export without parents", async () => {
    const flat = JSON.stringify(exports.claude.conversations).replaceAll("parent_message_uuid", "unknown");
    const { threads } = await found("claude", flat, { user: "u" });
    expect(threads[0]?.messages).toHaveLength(4);
  });

  it("makes sections of its memory reflections, and of projects facts and procedures", async () => {
    const { memories } = await found("claude", exports.claude.memories, { user: "u" });
    expect(memories).toMatchObject([
      { kind: "reflection", text: "**Work context**\n\nBuilds boats." },
      { kind: "reflection", text: "**Personal context**\n\nLives in Lisbon." },
      { kind: "reflection", text: "Use oak.", metadata: { importedFrom: { project: "p1" } } },
    ]);
    const projects = await found("claude", exports.claude.projects, { user: "u" });
    expect(projects.memories).toMatchObject([
      { externalId: "claude:project:p1", text: "Hull: The new hull" },
      {
        externalId: "claude:instructions:p1",
        kind: "procedure",
        title: "Hull (Claude project p1)",
        text: "Answer in metres.",
      },
      { externalId: "claude:doc1", text: "plan.md\n\n# Plan", tags: ["document"] },
    ]);
  });
});

describe("limits", () => {
  const row = (fields: object) => [{ id: "a", memory: "x", user_id: "u", ...fields }];

  it("make a long text several memories, which are whole together", async () => {
    const text = `${"Ein Satz über Möwen. ".repeat(4000)}🐦`;
    const { memories, remarks } = await found("mem0", row({ memory: text }));
    expect(memories.map(({ externalId }) => externalId)).toEqual(["mem0:a", "mem0:a#2", "mem0:a#3"]);
    expect(memories.map((memory) => memory.text).join("")).toBe(text);
    for (const memory of memories)
      expect(Buffer.byteLength(memory.text ?? "")).toBeLessThanOrEqual(32 * 1024);
    expect(memories[1]?.metadata).toEqual({ importedFrom: { part: 2, parts: 3 } });
    expect(remarks).toEqual(["changed 1 texts over 32 KiB: several memories (a)"]);
    const solid = "🐦".repeat(10_000);
    const birds = await found("mem0", row({ memory: solid }));
    expect(birds.memories.map((memory) => memory.text).join("")).toBe(solid);
  });

  it("keep tags and ids that do not fit in the metadata", async () => {
    const categories = [...Array.from({ length: 33 }, (_, i) => `tag ${i}`), "x".repeat(65)];
    const id = "i".repeat(2000);
    const { memories, remarks } = await found("mem0", row({ id, categories }));
    expect(memories[0]?.tags).toHaveLength(32);
    expect(memories[0]?.metadata).toEqual({ importedFrom: { id, tags: ["tag 32", "x".repeat(65)] } });
    expect(memories[0]?.externalId).toMatch(/^mem0:sha256:[\w-]{43}$/);
    expect(remarks[0]).toContain("tags beyond 32");
  });

  it("say which metadata are too large, and characters that no text has", async () => {
    const { memories, remarks } = await found(
      "mem0",
      row({ memory: "a\u0000b\ud800", metadata: { big: "x".repeat(20_000), small: 1 } }),
    );
    expect(memories[0]).toMatchObject({ text: "ab\ufffd", metadata: { small: 1 } });
    expect(memories[0]?.metadata).not.toHaveProperty("big");
    expect(remarks).toEqual([
      "changed 1 characters that a text cannot have: removed or replaced (a)",
      "changed 1 metadata over 10 KiB: without their largest fields (a)",
    ]);
  });

  it("leave out messages without a valid role, and name users that are none", async () => {
    const messages = [
      { role: "r".repeat(65), content: "x" },
      { role: "user", content: "y" },
    ];
    const { threads, remarks } = await found("zep", [
      { thread_id: "t", user_id: "u", created_at: 1_735_689_600, messages },
    ]);
    expect(threads[0]?.messages).toHaveLength(1);
    expect(remarks[0]).toContain("not a message: role is longer than 64 characters");
    const wrong = await found("mem0", row({ user_id: "*" }));
    expect(wrong.remarks[0]).toContain("not a user: is reserved");
  });

  it("keep a long title whole in the metadata", async () => {
    const title = "t".repeat(1025);
    const mapping = {
      a: {
        parent: null,
        message: { author: { role: "user" }, content: { content_type: "text", parts: ["x"] } },
      },
    };
    const { threads } = await found("chatgpt", [{ id: "c", title, mapping }], { user: "u" });
    expect(JSON.parse(threads[0]?.lines[0] ?? "")).toMatchObject({
      title: "t".repeat(256),
      metadata: { importedFrom: { title } },
    });
  });
});

describe("a wrong file", () => {
  it.each<[SourceName, unknown, string]>([
    [
      "mem0",
      {
        results: [
          { id: "a", memory: "b" },
          { id: "c", text: "d" },
        ],
      },
      "results[1].memory: is required: a string.",
    ],
    ["mem0", [{ id: "a", memory: "b", created_at: "yesterday" }], '[0].created_at: is no time: "yesterday".'],
    ["mem0", [{ id: "a", memory: "b", metadata: [] }], "[0].metadata: is no object."],
    ["zep", [{ uuid: "a" }], "[0].fact: is required: a string."],
    [
      "zep",
      { threads: [{ thread_id: "a", messages: [{ content: 1 }] }] },
      "threads[0].messages[0].content: is required",
    ],
    ["langgraph", [{ key: "a", value: {} }], "is required: a string"],
    ["chatgpt", [{ id: "c", title: "t" }], "[0].mapping: is required: the messages by id"],
    [
      "chatgpt",
      [{ id: "c", mapping: { a: { message: { author: {} } } } }],
      "[0].mapping.a.message.author.role: is required: a string.",
    ],
    ["claude", [{ uuid: "c" }], "[0].chat_messages: is required: the list of messages"],
    ["claude", '"text"', "a list or an object is expected"],
    ["claude", "", "is empty"],
    ["claude", '[{"uuid":"a"', "the file is not whole"],
    ["claude", '[{"conversations_memory":"x"} {}]', "',' is expected"],
    ["claude", '[{"conversations_memory":"x"}]x', "a list or an object is expected"],
    ["claude", new Uint8Array([0x5b, 0x22, 0xff, 0x22, 0x5d]), "the text is not UTF-8"],
    ["claude", "PK\u0003\u0004rest", "is a zip file. Unpack it"],
  ])("of %s is refused with what is wrong: %#", async (name, content, message) => {
    await expect(found(name, content, { user: "u" })).rejects.toThrow(message);
  });
});
