// Reading: what a page, a stream and the sanitized view show.
import { describe, expect, it } from "vitest";
import { call, newUser, pagesOf } from "../../../call.ts";
import { append, contents, create, read, said, say, threadOf } from "../../../thread-calls.ts";

describe("the sanitized view", () => {
  const call1 = { role: "assistant", content: "Looking.", toolCalls: [{ id: "a" }, { id: "b" }], extra: 1 };
  const results = [
    { role: "tool", toolCallId: "b", content: "B" },
    { role: "tool", toolCallId: "a", content: "A" },
  ];
  const dangling = { role: "assistant", content: "Trying.", toolCalls: [{ id: "c" }], extra: 2 };

  it("orders results as they were called, and drops what is incomplete, seqs and unknown fields kept", async () => {
    const { id } = await create(newUser());
    const orphan = { role: "tool", toolCallId: "x", content: "X" };
    await append(id, [say("go"), orphan, call1, ...results, say("on"), dangling]);
    const { items } = await read(id, "view=sanitized");
    expect(items.map(({ seq, message }) => [seq, message.content])).toEqual([
      [1, "go"],
      [3, "Looking."],
      [5, "A"],
      [4, "B"],
      [6, "on"],
      [7, "Trying."],
    ]);
    expect(items[1]?.message).toEqual(call1);
    expect(items.at(-1)?.message).toEqual({ role: "assistant", content: "Trying.", extra: 2 });
  });

  it("never cuts a page within a turn", async () => {
    const { id } = await create(newUser());
    await append(id, [say("go"), call1, ...results, say("on"), say("and on")]);
    for (const order of ["newest", "oldest"])
      for (let limit = 1; limit <= 6; limit++) {
        const found: unknown[] = [];
        const query = `view=sanitized&limit=${limit}&order=${order}`;
        for await (const page of pagesOf(`/v1/threads/${id}/messages?${query}`))
          found[order === "newest" ? "unshift" : "push"](...contents(page));
        expect(found, `${order} ${limit}`).toEqual(["go", "Looking.", "A", "B", "on", "and on"]);
      }
  });
});

it("what providers refuse stays in raw, and leaves the sanitized and the prompted view, and a context", async () => {
  const user = newUser();
  const { id } = await create(user);
  const reasoning = {
    role: "assistant",
    content: null,
    agentItem: { type: "reasoning", id: "rs", content: [] },
  };
  const refused = [
    { role: "assistant", content: null },
    { role: "assistant", content: "" },
    { role: "assistant", content: [] },
    { role: "assistant", content: [{ type: "text", text: "" }] },
    { role: "assistant", content: [{ type: "reasoning", text: "Hm." }] },
    reasoning,
    {
      ...reasoning,
      tool_calls: [{ id: "c" }],
      agentItem: { type: "function_call", callId: "c", name: "look" },
    },
    { role: "assistant", content: [{ type: "server_tool_use", id: "s", name: "web_search", input: {} }] },
    {
      role: "assistant",
      parts: [{ type: "tool-look", toolCallId: "u", state: "input-available", input: {} }],
    },
    { role: "model", parts: [{ functionCall: { name: "look", args: {} } }] },
  ];
  const messages = [say("Hello"), ...refused, say("Hi Ada.", "assistant")];
  await append(id, messages);
  expect((await read(id)).items.map(({ message }) => message)).toEqual(messages);
  for (const view of ["sanitized", "prompted"])
    expect(await said(id, `view=${view}`), view).toEqual(["Hello", "Hi Ada."]);
  const context = await call(`/v1/users/${user}/context`, {
    json: { query: "And now?", threadId: id, format: "messages" },
  });
  expect(context.body.messages.map(({ content }: { content: unknown }) => content)).toEqual([
    "Hello",
    "Hi Ada.",
    "And now?",
  ]);
});

describe("the sanitized view's pages", () => {
  const sanitizedPages = async (id: string, limit: number, order: string) => {
    const found: { message: unknown }[][] = [];
    const query = `view=sanitized&limit=${limit}&order=${order}`;
    for await (const { items } of pagesOf(`/v1/threads/${id}/messages?${query}`))
      found[order === "newest" ? "unshift" : "push"](items);
    return found;
  };
  const part = (type: string, more: object) => ({ type, ...more });

  it.each([
    [
      "an AI SDK turn with an approval",
      [
        say("go"),
        {
          role: "assistant",
          content: [
            part("tool-call", { toolCallId: "a" }),
            part("tool-approval-request", { approvalId: "p", toolCallId: "a" }),
          ],
        },
        { role: "tool", content: [part("tool-approval-response", { approvalId: "p", approved: true })] },
        { role: "tool", content: [part("tool-result", { toolCallId: "a", output: 1 })] },
        say("thanks"),
      ],
    ],
    [
      "an Anthropic turn",
      [
        say("go"),
        { role: "assistant", content: [part("tool_use", { id: "a" }), part("tool_use", { id: "b" })] },
        { role: "user", content: [part("tool_result", { tool_use_id: "b" })] },
        { role: "user", content: [part("tool_result", { tool_use_id: "a" })] },
        say("done", "assistant"),
      ],
    ],
  ])("make up the whole view of %s, whatever their size", async (_, messages) => {
    const { id } = await create(newUser());
    await append(id, messages);
    const whole = (await read(id, "view=sanitized")).items;
    expect(whole).toHaveLength(messages.length);
    for (const order of ["newest", "oldest"])
      for (let limit = 1; limit <= 5; limit++)
        expect((await sanitizedPages(id, limit, order)).flat()).toEqual(whole);
  });

  it("keep to their limit where messages carry the outputs of their own calls", async () => {
    const { id } = await create(newUser());
    const output = {
      role: "assistant",
      parts: [part("tool-x", { toolCallId: "a", state: "output-available" })],
    };
    await append(
      id,
      Array.from({ length: 10 }, () => output),
    );
    expect((await sanitizedPages(id, 2, "newest")).map((page) => page.length)).toEqual([2, 2, 2, 2, 2]);
  });

  it("hold a turn whose results are larger than a page", async () => {
    const { id } = await create(newUser());
    const result = (toolCallId: string) => ({
      role: "tool",
      toolCallId,
      content: "x".repeat(5 * 1024 * 1024),
    });
    await append(id, [
      say("go"),
      { role: "assistant", content: "", toolCalls: [{ id: "a" }, { id: "b" }] },
      result("a"),
    ]);
    await append(id, [result("b")]);
    expect((await sanitizedPages(id, 10, "newest")).flat()).toHaveLength(4);
    expect((await sanitizedPages(id, 10, "oldest")).flat()).toHaveLength(4);
  });
});

describe("reading", () => {
  it("starts before or after a seq", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3", "4"]);
    expect(await said(id, "before=3")).toEqual(["1", "2"]);
    expect(await said(id, "order=oldest&after=2")).toEqual(["3", "4"]);
    for (const query of ["order=oldest&before=3", "order=newest&after=3"]) {
      const answer = await call(`/v1/threads/${id}/messages?${query}`);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].path).toBe(
        `query.${query.includes("before") ? "before" : "after"}`,
      );
    }
  });

  it("streams a message that was written on several lines on one", async () => {
    const { id } = await create(newUser());
    await call(`/v1/threads/${id}/messages`, {
      raw: '{"messages":[{\n"role":"user",\r\n"content":"a\\nb"}, {"role":"user","content":"c"}]}',
    });
    const { text } = await call(`/v1/threads/${id}/messages`, {
      headers: { Accept: "application/x-ndjson" },
    });
    const parsed = text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).message.content);
    expect(parsed).toEqual(["a\nb", "c"]);
  });

  it("refuses for a stream what goes with pages only", async () => {
    const { id } = await threadOf(newUser(), ["1", "2", "3"]);
    const stream = (query: string) =>
      call(`/v1/threads/${id}/messages?${query}`, { headers: { Accept: "application/x-ndjson" } });
    for (const query of ["before=2", "limit=2", "order=newest"]) {
      const answer = await stream(query);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].path).toBe(`query.${query.split("=")[0]}`);
    }
    const after = (await stream("after=1")).text.trimEnd().split("\n");
    expect(after.map((line) => JSON.parse(line).seq)).toEqual([2, 3]);
  });

  it("streams on over a page of which nothing is left", async () => {
    const { id } = await create(newUser());
    const orphans = Array.from({ length: 999 }, (_, i) => ({
      role: "tool",
      toolCallId: `${i}`,
      content: "x",
    }));
    await append(id, [say("first")]);
    for (let i = 0; i < 2; i++) await append(id, orphans);
    await append(id, [say("last")]);
    const answer = await call(`/v1/threads/${id}/messages?view=sanitized`, {
      headers: { Accept: "application/x-ndjson" },
    });
    expect(
      answer.text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).message.content),
    ).toEqual(["first", "last"]);
  });

  it("streams all of a long thread, a line a message, in every view", async () => {
    const { id } = await create(newUser());
    const texts = Array.from({ length: 2_345 }, (_, i) => `text ${i}`);
    for (let i = 0; i < texts.length; i += 1_000)
      await append(
        id,
        texts.slice(i, i + 1_000).map((text) => say(text)),
      );
    const lines = async (query: string) => {
      const answer = await call(`/v1/threads/${id}/messages?${query}`, {
        headers: { Accept: "application/x-ndjson" },
      });
      expect(answer.headers.get("Content-Type")).toBe("application/x-ndjson");
      return answer.text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line));
    };
    const raw = await lines("");
    expect(raw.map(({ message }) => message.content)).toEqual(texts);
    expect(raw[0]).toEqual({ seq: 1, message: say("text 0"), createdAt: expect.any(Number) });
    await call(`/v1/threads/${id}/compactions`, { json: { summary: "most", to: 2_340 } });
    expect((await lines("view=compacted")).map(({ message }) => message.content)).toEqual([
      "most",
      ...texts.slice(2_340),
    ]);
    expect(await lines("view=sanitized&order=oldest&after=2343")).toHaveLength(2);
    const missing = await call(`/v1/threads/${id.slice(0, -4)}0000/messages`, {
      headers: { Accept: "application/x-ndjson" },
    });
    expect(missing.status).toBe(404);
  });
});
