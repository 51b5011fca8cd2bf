// Exports with entries of a wrong shape, and with entries out of order, of all sources.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type SourceName, SOURCES } from "../../../packages/importers/src/source.ts";
import { command, folder, written } from "./command.ts";
import { at, iso } from "./exports/times.ts";
import { found } from "./found.ts";

type Entry = Record<string, unknown>;
/** `on`: the day of January that the message has. */
type Said = { id: string; role: "user" | "assistant"; on: number };
type Sample = {
  /** An entry of the export, and the fields that it cannot lack. */
  entry: (id: string) => Entry;
  required: readonly string[];
  /** A conversation of the export, in the order of its file, and the fields that a message cannot lack. */
  conversation?: (id: string, messages: readonly unknown[]) => Entry;
  message?: (said: Said, i: number) => Entry;
  requiredOfMessage?: readonly string[];
};

const names = { user: "human", assistant: "assistant" };
const claude = (id: string, messages: readonly unknown[]) => ({
  uuid: id,
  name: id,
  created_at: iso(1),
  chat_messages: messages,
});
const chatgpt = (id: string, messages: readonly unknown[]) => ({
  id,
  title: id,
  create_time: at(1),
  // A line: each message follows the one before it in the list.
  mapping: Object.fromEntries(
    messages.map((message, i) => [
      `n${i}`,
      { id: `n${i}`, parent: i === 0 ? null : `n${i - 1}`, children: [`n${i + 1}`], message },
    ]),
  ),
  current_node: `n${messages.length - 1}`,
});
const SAMPLES: Readonly<Record<SourceName, Sample>> = {
  mem0: { entry: (id) => ({ id, memory: `likes ${id}`, user_id: "u" }), required: ["id", "memory"] },
  // Without a memory it is a document.
  supermemory: { entry: (id) => ({ id, memory: `likes ${id}` }), required: ["id"] },
  zep: {
    entry: (id) => ({ uuid: id, fact: `likes ${id}`, name: "LIKES" }),
    required: ["uuid", "fact"],
    conversation: (id, messages) => ({ thread_id: id, created_at: iso(1), messages }),
    message: ({ id, role, on }) => ({ uuid: id, role, content: id, created_at: iso(on) }),
    requiredOfMessage: ["role", "content"],
  },
  langgraph: {
    entry: (id) => ({ namespace: ["m"], key: id, value: { text: `likes ${id}` } }),
    required: ["namespace", "key", "value"],
    conversation: (id, messages) => ({ thread_id: id, values: { messages } }),
    message: ({ id, role }) => ({ type: role === "user" ? "human" : "ai", content: id, id }),
    requiredOfMessage: ["type", "content"],
  },
  chatgpt: {
    entry: (id) => chatgpt(id, [SAMPLES.chatgpt.message?.({ id: "m", role: "user", on: 1 }, 0)]),
    required: ["id", "mapping"],
    conversation: chatgpt,
    message: ({ id, role, on }) => ({
      id,
      author: { role },
      create_time: at(on),
      content: { content_type: "text", parts: [id] },
    }),
    requiredOfMessage: ["author", "content"],
  },
  claude: {
    entry: (id) => claude(id, [SAMPLES.claude.message?.({ id: "m", role: "user", on: 1 }, 0)]),
    required: ["uuid", "chat_messages"],
    conversation: claude,
    message: ({ id, role, on }) => ({ uuid: id, text: id, sender: names[role], created_at: iso(on) }),
    requiredOfMessage: ["sender"],
  },
};

/** Each entry that has another shape. */
const oddOnes = (entry: Entry, required: readonly string[]): unknown[] => [
  null,
  5,
  "text",
  true,
  [],
  [entry],
  ...required.flatMap((field) => {
    const { [field]: _, ...rest } = entry;
    return [rest, { ...entry, [field]: null }, { ...entry, [field]: 5 }];
  }),
];

const texts = (
  { messages }: { messages: readonly { message: { content?: unknown } }[] } = { messages: [] },
) => messages.map(({ message }) => message.content);

describe.each(SOURCES)("an export of %s", (name) => {
  const { entry, required, conversation, message, requiredOfMessage = [] } = SAMPLES[name];

  it("is imported without its odd entries, which are counted by name", async () => {
    for (const odd of oddOnes(entry("odd"), required)) {
      const { memories, threads, remarks } = await found(name, [entry("a"), odd, entry("b")], { user: "u" });
      const context = JSON.stringify(odd);
      expect(memories.length + threads.length, context).toBe(2);
      expect(remarks, context).toHaveLength(1);
      expect(remarks[0], context).toMatch(/^skipped 1 entries of a wrong shape: .+ \(.+\)$/);
      const onlyOdd = [odd, odd];
      await expect(found(name, onlyOdd, { user: "u" }), context).rejects.toThrow(/\.json: \[0\]/);
    }
  });

  if (conversation === undefined || message === undefined) return;
  const said = (["user", "assistant", "user", "assistant"] as const).map((role, i) =>
    message({ id: `m${i}`, role, on: i + 1 }, i),
  );

  it("is imported without its odd messages, which are counted by the name of their conversation", async () => {
    for (const odd of oddOnes(message({ id: "odd", role: "user", on: 2 }, 9), requiredOfMessage)) {
      // ChatGPT has nodes without a message.
      if (name === "chatgpt" && odd === null) continue;
      const given = conversation("Boats", [said[0], odd, ...said.slice(1)]);
      const { threads, remarks } = await found(name, [given], { user: "u" });
      const context = JSON.stringify(odd);
      expect(texts(threads[0]), context).toEqual(["m0", "m1", "m2", "m3"]);
      expect(
        remarks.filter((remark) => remark.includes("of a wrong shape")),
        context,
      ).toEqual([expect.stringMatching(/^skipped 1 messages of a wrong shape: .+ \(Boats\)$/)]);
      const onlyOdd = conversation("Boats", [odd, odd]);
      await expect(found(name, [onlyOdd], { user: "u" }), context).rejects.toThrow(/\.json: \[0\]\./);
    }
  });
});

it("a faulty time or file costs its own entry alone", async () => {
  const entries = [entry("a"), { ...entry("b"), created_at: "yesterday" }, { ...entry("c"), metadata: [] }];
  const { memories, remarks } = await found("mem0", entries, { user: "u" });
  expect(memories).toHaveLength(1);
  expect(remarks).toEqual([
    "skipped 1 entries of a wrong shape: created_at is no time (b)",
    "skipped 1 entries of a wrong shape: metadata is no object (c)",
  ]);
  const parts = {
    ...said("user"),
    content: [null, { type: "text", text: "Hi" }],
    files: [5, { file_name: "f" }],
  };
  const { threads } = await found("claude", [claude("k", [parts])], { user: "u" });
  expect(texts(threads[0])).toEqual([
    [
      { type: "unknown", value: null },
      { type: "text", text: "Hi" },
      { type: "file", name: "f" },
    ],
  ]);
  function entry(id: string) {
    return SAMPLES.mem0.entry(id);
  }
  function said(role: "user") {
    return SAMPLES.claude.message?.({ id: "m", role, on: 1 }, 0);
  }
});

it("the command prints what it skipped, and refuses a folder only if nothing in it has the shape", async () => {
  const exported = join(folder, "odd");
  mkdirSync(join(exported, "conversations"), { recursive: true });
  const put = (name: string, content: unknown) =>
    writeFileSync(join(exported, "conversations", name), JSON.stringify(content));
  put("1.json", { uuid: "c1", name: "Without messages" });
  const args = (path: string) => ["--from", "claude", path, "--user", "u", "--dry-run"];
  expect(await command(args(exported))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("chat_messages: is required: the list of messages"),
  });
  put("2.json", SAMPLES.claude.entry("c2"));
  const { code, stdout } = await command(args(exported));
  expect(code).toBe(0);
  expect(stdout).toContain("1 thread, 1 message.");
  expect(stdout).toContain("  1 × entries of a wrong shape: chat_messages is required (Without messages)\n");
  expect((await command(args(written([{ uuid: "c1" }])))).code).toBe(1);
});

describe("the order", () => {
  /** Turns, of which some share a time. */
  const turns = fc
    .array(fc.record({ wait: fc.integer({ min: 0, max: 1 }), shared: fc.boolean() }), {
      minLength: 1,
      maxLength: 8,
    })
    .map((given) => {
      let on = 0;
      return given.flatMap(({ wait, shared }, i): Said[] => {
        const asked = (on += wait + 1);
        if (!shared) on++;
        return [
          { id: `q${i}`, role: "user", on: asked },
          { id: `a${i}`, role: "assistant", on },
        ];
      });
    });
  const shuffled = turns.chain((inOrder) =>
    fc.record({
      inOrder: fc.constant(inOrder),
      inFile: fc.shuffledSubarray(inOrder, { minLength: inOrder.length, maxLength: inOrder.length }),
    }),
  );

  it.each(["claude", "zep"] as const)(
    "of %s is that of time, and a question is before its answer",
    async (name) => {
      const { conversation, message } = SAMPLES[name];
      await fc.assert(
        fc.asyncProperty(shuffled, async ({ inOrder, inFile }) => {
          const messages = inFile.map((one, i) => message?.(one, i));
          const { threads } = await found(name, [conversation?.("c", messages)], { user: "u" });
          expect(texts(threads[0])).toEqual(inOrder.map(({ id }) => id));
        }),
        { numRuns: 30 },
      );
    },
  );

  const contents = async (order: string, days: readonly (number | null)[]) => {
    const messages = Array.from(order, (letter, i) => ({
      uuid: `${letter}${i}`,
      text: `${letter}${i}`,
      sender: letter === "q" ? "human" : "assistant",
      created_at: days[i] === null ? null : iso(days[i] ?? 1),
    }));
    const { threads } = await found("claude", [claude("c", messages)], { user: "u" });
    return texts(threads[0]).join(" ");
  };

  it("of several turns of one time is that of the file if they alternate, else question by question", async () => {
    expect(await contents("qaqa", [])).toBe("q0 a1 q2 a3");
    expect(await contents("qaq", [])).toBe("q0 a1 q2");
    expect(await contents("aqaq", [])).toBe("q1 a0 q3 a2");
    expect(await contents("aq", [])).toBe("q1 a0");
    expect(await contents("qqa", [])).toBe("q0 q1 a2");
    expect(await contents("aqq", [])).toBe("q1 q2 a0");
    // The first question has no answer.
    expect(await contents("qaq", [1, 2, 2])).toBe("q0 q2 a1");
  });

  it("of a message without a time is behind the message that it follows in the file", async () => {
    expect(await contents("aqaq", [3, null, 2, 1])).toBe("q3 a2 a0 q1");
    expect(await contents("qa", [null, 1])).toBe("q0 a1");
  });

  it("of a conversation with parents is theirs, also behind an odd message", async () => {
    const messages = ["q", "a", "q", "a"].map((letter, i) => ({
      uuid: `m${i}`,
      text: `m${i}`,
      ...(i !== 1 && { sender: letter === "q" ? "human" : "assistant" }),
      created_at: iso(9 - i),
      parent_message_uuid: i === 0 ? "root" : `m${i - 1}`,
    }));
    const { threads } = await found("claude", [claude("c", messages.toReversed())], { user: "u" });
    expect(texts(threads[0])).toEqual(["m0", "m2", "m3"]);
    const { mapping, ...rest } = chatgpt(
      "c",
      messages.map((_, i) => SAMPLES.chatgpt.message?.({ id: `m${i}`, role: "user", on: 9 - i }, i)),
    );
    const nodes: [string, { message?: unknown } | "odd"][] = Object.entries({
      ...mapping,
      n1: "odd" as const,
    });
    const given = { ...rest, mapping: Object.fromEntries(nodes.toReversed()) };
    expect(texts((await found("chatgpt", [given], { user: "u" })).threads[0])).toEqual(["m0", "m2", "m3"]);
    const alone = nodes.map(([id, node]) => [
      id,
      typeof node === "string" ? node : { message: node.message },
    ]);
    const list = { ...rest, mapping: Object.fromEntries(alone.toReversed()) };
    expect(texts((await found("chatgpt", [list], { user: "u" })).threads[0])).toEqual(["m3", "m2", "m0"]);
  });

  it("of LangGraph's checkpoints does not count: the newest one is the thread", async () => {
    const checkpoint = (on: number) => ({
      config: { configurable: { thread_id: "g" } },
      checkpoint: {
        ts: iso(on),
        channel_values: {
          messages: Array.from({ length: on }, (_, i) => ({ role: "user", content: `m${i}` })),
        },
      },
    });
    for (const days of [
      [1, 2, 3],
      [3, 2, 1],
      [2, 3, 1],
    ]) {
      const { threads, remarks } = await found("langgraph", days.map(checkpoint), { user: "u" });
      expect(texts(threads[0])).toEqual(["m0", "m1", "m2"]);
      expect(remarks).toContain("skipped 1 former checkpoints of a thread (g)");
    }
    const file = written([1, 2, 3].map(checkpoint));
    const printed = await command(["--from", "langgraph", file, "--user", "u", "--dry-run"]);
    expect(printed.stdout).toContain("1 thread, 3 messages.");
  });

  it("of a history of mem0 does not count: the last state of a memory is imported, and none that was deleted", async () => {
    const rows = [
      { memory_id: "x", new_memory: "tea", event: "ADD", created_at: iso(1) },
      { memory_id: "x", new_memory: "coffee", event: "UPDATE", created_at: iso(1) },
      { memory_id: "y", new_memory: "milk", event: "ADD", created_at: iso(1) },
      // mem0 writes no time of a deletion.
      { memory_id: "y", old_memory: "milk", new_memory: null, event: "DELETE", is_deleted: 1 },
    ];
    const all = fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length });
    await fc.assert(
      fc.asyncProperty(all, async (history) => {
        const { memories } = await found("mem0", { history }, { user: "u" });
        expect(memories.map(({ text }) => text)).toEqual(["coffee"]);
      }),
      { numRuns: 24 },
    );
  });

  it("of versions of supermemory does not count: the latest one is imported", async () => {
    const versions = [1, 2, 3].map((version) => ({
      id: `s${version}`,
      memory: `v${version}`,
      isLatest: version === 3,
    }));
    for (const entries of [versions, versions.toReversed()])
      expect((await found("supermemory", entries, { user: "u" })).memories.map(({ text }) => text)).toEqual([
        "v3",
      ]);
  });
});
