// Conversations of chat programs.
import { describe, expect, it } from "vitest";
import * as exports from "./exports/index.ts";
import { day, found } from "./found.ts";

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
      metadata: {
        importedFrom: { source: "claude", id: "k1", messages: 3, summary: "They spoke of boats." },
      },
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
