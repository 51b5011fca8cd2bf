// `npm run import -- --from SOURCE` with conversations, against a server.
import { describe, expect, it } from "vitest";
import { written } from "./command.ts";
import * as exports from "./exports/index.ts";
import { Proxied } from "./proxied.ts";

const cairn = new Proxied();

describe("a conversation export", () => {
  it("becomes threads and memories with their times, and a second run changes nothing", async () => {
    const args = ["--from", "chatgpt", written(exports.chatgpt), "--user", "gina"];
    const first = await cairn.run(args);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain("Found for 1 user: 3 memories (3 facts), 2 threads, 12 messages.");
    expect(first.stdout).toContain("Memories: 3 created.\nThreads: 2 created.\nMessages: 12 created.\n");
    const threads = (await cairn.memory.threads.list("gina", { order: "created" })).items;
    expect(threads).toMatchObject([
      { title: "New conversation", length: 2 },
      {
        title: "Dogs",
        agent: "chatgpt",
        length: 10,
        createdAt: Date.UTC(2025, 0, 1),
        updatedAt: Date.UTC(2025, 0, 4),
      },
    ]);
    const last = (await cairn.memory.threads.read(threads[1]?.id ?? "", { limit: 1 })).items;
    expect(last).toMatchObject([
      { seq: 10, createdAt: Date.UTC(2025, 0, 4), message: { content: "Thanks" } },
    ]);
    const [saved] = (await cairn.memory.memories.list("gina", { extractor: "chatgpt", sourceMessage: "bio" }))
      .items;
    expect(saved).toMatchObject({
      text: "Likes green tea.",
      createdAt: Date.UTC(2025, 0, 2),
      source: { thread: threads[1]?.id },
    });
    expect(cairn.sent.filter(({ call }) => call.includes("/users/")).map(({ trust }) => trust)).not.toContain(
      undefined,
    );

    const before = await cairn.stored("gina");
    const again = await cairn.run(args);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(
      "Memories: 3 there already.\nThreads: 2 there already.\nMessages: 12 there already.\n",
    );
    expect(await cairn.stored("gina")).toBe(before);
  });

  it("that grew is continued; one that says something else now stays", async () => {
    const conversation = (id: string, ...said: string[]) => ({
      uuid: id,
      name: id,
      created_at: "2025-01-01T00:00:00Z",
      chat_messages: said.map((text, i) => ({
        text,
        sender: i % 2 ? "assistant" : "human",
        created_at: `2025-01-0${i + 1}T00:00:00Z`,
      })),
    });
    const args = (content: unknown) => ["--from", "claude", written(content), "--user", "grown"];
    await cairn.run(args([conversation("a", "1", "2"), conversation("b", "1", "2")]));
    const { code, stdout } = await cairn.run(
      args([conversation("a", "1", "2", "3", "4"), conversation("b", "1", "other", "3")]),
    );
    expect(code).toBe(1);
    expect(stdout).toContain("Messages: 2 created, 3 there already, 2 left out.");
    expect(stdout).toContain("2 × messages of threads that changed since their import (b)");
    const [b, a] = (await cairn.memory.threads.list("grown", { order: "created" })).items;
    const contents = async (id = "") =>
      (await cairn.memory.threads.read(id)).items.map(({ message, createdAt }) => [
        message.content,
        createdAt,
      ]);
    expect(await contents(a?.id)).toEqual(
      ["1", "2", "3", "4"].map((text, i) => [text, Date.UTC(2025, 0, i + 1)]),
    );
    expect((await contents(b?.id)).map(([text]) => text)).toEqual(["1", "2"]);
  });

  it("stays without the messages that were deleted here", async () => {
    const conversation = (...said: string[]) => [
      {
        uuid: "d",
        name: "d",
        created_at: "2025-01-01T00:00:00Z",
        chat_messages: said.map((text) => ({ text, sender: "human" })),
      },
    ];
    const args = (content: unknown) => ["--from", "claude", written(content), "--user", "deleting"];
    await cairn.run(args(conversation("1", "2", "3")));
    const [thread] = (await cairn.memory.threads.list("deleting")).items;
    const id = thread?.id ?? "";
    for (const seq of [1, 3]) await cairn.memory.threads.deleteMessage(id, seq);
    const before = await cairn.stored("deleting");
    const again = await cairn.run(args(conversation("1", "2", "3")));
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Messages: 1 there already, 2 deleted here."),
    });
    expect(await cairn.stored("deleting")).toBe(before);
    const grown = args(conversation("1", "2", "3", "4"));
    expect((await cairn.run(grown)).stdout).toContain(
      "Messages: 1 created, 1 there already, 2 deleted here.",
    );
    expect((await cairn.run(grown)).stdout).toContain("Messages: 2 there already, 2 deleted here.");
    const left = (await cairn.memory.threads.read(id)).items.map(({ seq, message }) => [
      seq,
      message.content,
    ]);
    expect(left).toEqual([
      [2, "2"],
      [4, "4"],
    ]);
  });

  it("starts an ingest of each thread with --extract", async () => {
    const { code, stdout } = await cairn.run([
      "--from",
      "zep",
      written(exports.zep.sessions),
      "--user",
      "extracted",
      "--extract",
      "--location",
      "weur",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("Extractions: 1 started.");
    const [thread] = (await cairn.memory.threads.list("extracted")).items;
    const ingests = cairn.sent.filter(({ call }) => call === "POST /v1/users/extracted/ingest");
    expect(
      new Set(cairn.sent.filter(({ call }) => call.includes("/v1/")).map(({ location }) => location)),
    ).toEqual(new Set(["weur"]));
    expect(ingests).toMatchObject([{ trust: "import", body: JSON.stringify({ threadId: thread?.id }) }]);
  });

  it("without times is the same in a second run", async () => {
    const thread = { thread_id: "g", messages: [{ role: "user", content: "Hi" }] };
    const args = ["--from", "langgraph", written([thread]), "--user", "undated"];
    expect((await cairn.run(args)).stdout).toContain("Messages: 1 created.");
    const before = await cairn.stored("undated");
    expect((await cairn.run(args)).stdout).toContain("Messages: 1 there already.");
    expect(await cairn.stored("undated")).toBe(before);
  });

  it("larger than a request is sent in parts", async () => {
    const chat_messages = Array.from({ length: 20 }, (_, i) => ({
      text: `${i} ${"x".repeat(1 << 20)}`,
      sender: "human",
    }));
    const args = [
      "--from",
      "claude",
      written([{ uuid: "big", name: "big", created_at: "2025-01-01T00:00:00Z", chat_messages }]),
      "--user",
      "big",
    ];
    const full = { status: 403, body: { error: { code: "storage_quota", message: "full" } } };
    let parts = 0;
    cairn.answer = (call) => (call.includes("part=true") && ++parts > 1 ? full : undefined);
    const failed = await cairn.run(args);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("storage_quota: full") });
    cairn.answer = () => undefined;
    cairn.sent = [];
    // The first part was stored.
    const rest = /Threads: 1 there already\.\nMessages: (\d+) created, (\d+) there already\./;
    const [, created, there] = rest.exec((await cairn.run(args)).stdout) ?? [];
    expect(Number(there)).toBeGreaterThan(0);
    expect(Number(created) + Number(there)).toBe(20);
    expect(cairn.sent.filter(({ call }) => call.includes("part=true"))).toHaveLength(2);
    expect((await cairn.run(args)).stdout).toContain("Messages: 20 there already.");
  });
});
