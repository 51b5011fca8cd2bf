// Items that do not fit, and files that are none.
import { describe, expect, it } from "vitest";
import type { SourceName } from "../../../packages/importers/src/source.ts";
import { found } from "./found.ts";

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
      "changed 1 metadata over 10 KiB or nested too deep: without some fields (a)",
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

  it("leave out messages, metadata and items that are nested too deep, and import what is beside them", async () => {
    const deep = "nested here";
    // Printing such a value recurses.
    const nested = (content: unknown) =>
      JSON.stringify(content).replaceAll(`"${deep}"`, `${"[".repeat(100_000)}${"]".repeat(100_000)}`);
    const messages = [
      { role: "user", content: [{ type: "text", text: "x", more: deep }] },
      { role: "user", content: "y" },
    ];
    const threads = await found(
      "langgraph",
      nested([{ thread_id: "t", metadata: { deep }, values: { messages } }]),
      { user: "u" },
    );
    expect(threads.threads[0]?.messages.map(({ message }) => message.content)).toEqual(["y"]);
    expect(threads.remarks).toContain("skipped 1 messages nested deeper than 512 (t)");
    const { memories } = await found("mem0", nested(row({ metadata: { deep, small: 1 } })));
    expect(memories[0]).toMatchObject({ text: "x", metadata: { small: 1 } });
    expect(memories[0]?.metadata).not.toHaveProperty("deep");
    const items = await found(
      "langgraph",
      nested([
        { namespace: ["m"], key: "a", value: { deep } },
        { namespace: ["m"], key: "b", value: { text: "likes tea" } },
      ]),
      { user: "u" },
    );
    expect(items.memories.map(({ text }) => text)).toEqual(["likes tea"]);
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
    ["mem0", { results: [{ id: "c", text: "d" }] }, "results[0].memory: is required: a string."],
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
