// The middleware in streams.
import { generateText, isStepCount, streamText } from "ai";
import { convertReadableStreamToArray, MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import type { ConversationOptions } from "../src/ai-sdk.ts";
import type { StreamPart } from "../src/ai-sdk/sdk.ts";
import { calls, partsOf, says, scripted } from "./ai-sdk-model.ts";
import { begin, messagesOf, textsOf, weather, withMemory } from "./ai-sdk-thread.ts";

describe("a stream", () => {
  it("is passed on as it is, and saved at its end", async () => {
    const { user, memory, thread } = await begin();
    const content = [...says("It is sunny in Rome."), ...calls("weather", { place: "Rome" }, "c")];
    const parts = partsOf([{ type: "reasoning", text: "hm", providerMetadata: { p: { s: 1 } } }, ...content]);
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({ start: (c) => (parts.forEach((part) => c.enqueue(part)), c.close()) }),
      }),
    });
    const { stream } = await withMemory(model, { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
    });
    const seen: StreamPart[] = [];
    for await (const part of stream) seen.push(part);
    expect(seen).toHaveLength(parts.length);
    for (const [i, part] of seen.entries()) expect(part).toBe(parts[i]);
    expect((await messagesOf(memory, thread))[1]).toEqual({
      role: "assistant",
      content: [
        { type: "reasoning", text: "hm", providerOptions: { p: { s: 1 } } },
        { type: "text", text: "It is sunny in Rome." },
        { type: "tool-call", toolCallId: "c", toolName: "weather", input: { place: "Rome" } },
      ],
    });
  });

  it("of streamText saves the turn step by step, and is saved when it has been read", async () => {
    const { user, memory, thread } = await begin();
    const result = streamText({
      model: withMemory(scripted(calls("weather", { place: "Rome" }), says("Sunny it is.")), {
        memory,
        user,
        thread,
      }),
      tools: { weather },
      stopWhen: isStepCount(3),
      prompt: "How is Rome?",
    });
    let text = "";
    for await (const delta of result.textStream) text += delta;
    expect(text).toBe("Sunny it is.");
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "How is Rome?"],
      ["assistant", "tool-call"],
      ["tool", "tool-result"],
      ["assistant", "Sunny it is."],
    ]);
  });

  /** A model that says a few words, and then nothing more. */
  const hesitant = (
    parts: StreamPart[] = partsOf([...says("one two three"), ...calls("weather", {})]).slice(0, 4),
  ) =>
    new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream({ start: (c) => parts.forEach((part) => c.enqueue(part)) }),
      }),
    });

  it("that the consumer aborts keeps what was said", async () => {
    const { user, memory, thread } = await begin();
    const abort = new AbortController();
    const result = streamText({
      model: withMemory(hesitant(), { memory, user, thread }),
      prompt: "Count.",
      abortSignal: abort.signal,
    });
    let text = "";
    for await (const delta of result.textStream) {
      text += delta;
      if (text === "one two ") abort.abort();
    }
    await expect
      .poll(() => textsOf(memory, thread))
      .toEqual([
        ["user", "Count."],
        ["assistant", "one two "],
      ]);
  });

  it("that the reader cancels keeps what was said", async () => {
    const { user, memory, thread } = await begin();
    const { stream } = await withMemory(hesitant(), { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Count." }] }],
    });
    const reader = stream.getReader();
    for (let i = 0; i < 4; i++) await reader.read();
    await reader.cancel();
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "Count."],
      ["assistant", "one two "],
    ]);
  });

  it("that is aborted while memory is away ends as it would without it, also if it is strict", async () => {
    const { user, memory, thread } = await begin({
      retry: false,
      fetch: () => new Response("", { status: 503 }),
    });
    const abort = new AbortController();
    const told: string[] = [];
    const onError: ConversationOptions["onError"] = (_, { doing }) => told.push(doing);
    const { stream } = await withMemory(hesitant(), {
      memory,
      user,
      thread,
      context: false,
      strict: true,
      onError,
    }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Count." }] }],
      abortSignal: abort.signal,
    });
    const reader = stream.getReader();
    for (let i = 0; i < 4; i++) await reader.read();
    abort.abort();
    await expect.poll(() => told).toEqual(["save"]);
  });

  it("that was said to its end is whole, though its reader goes before it closes", async () => {
    const { user, memory, thread } = await begin();
    const parts = partsOf([...says("Let me see."), ...calls("weather", {}, "c")]);
    const { stream } = await withMemory(hesitant(parts), { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Rome?" }] }],
    });
    const reader = stream.getReader();
    for (const _ of parts) await reader.read();
    await reader.cancel();
    expect((await textsOf(memory, thread))[1]).toEqual(["assistant", "Let me see.+tool-call"]);
  });

  it("may have text and reasoning at once, under one id", async () => {
    const { user, memory, thread } = await begin();
    const parts: StreamPart[] = [
      { type: "reasoning-start", id: "0" },
      { type: "text-start", id: "0" },
      { type: "reasoning-delta", id: "0", delta: "hm" },
      { type: "text-delta", id: "0", delta: "Yes." },
      { type: "reasoning-end", id: "0", providerMetadata: { p: { s: 1 } } },
      { type: "text-end", id: "0" },
      ...partsOf([]),
    ];
    const { stream } = await withMemory(hesitant(parts), { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Rome?" }] }],
    });
    const reader = stream.getReader();
    for (const _ of parts) await reader.read();
    await reader.cancel();
    expect((await messagesOf(memory, thread))[1]?.content).toEqual([
      { type: "reasoning", text: "hm", providerOptions: { p: { s: 1 } } },
      { type: "text", text: "Yes." },
    ]);
  });

  it("that ends before a word was said keeps nothing, and no call that nobody carries out", async () => {
    const { user, memory, thread } = await begin();
    const silent = partsOf([{ type: "reasoning", text: "hm" }, ...calls("weather", {})]).slice(0, -1);
    const { stream } = await withMemory(hesitant(silent), { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Count." }] }],
    });
    const reader = stream.getReader();
    for (const _ of silent) await reader.read();
    await reader.cancel();
    expect(await messagesOf(memory, thread)).toEqual([]);
  });

  it("that fails halfway keeps nothing, and the failure is the reader's", async () => {
    const { user, memory, thread } = await begin();
    const failing = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream<StreamPart>({
          pull: (c) => (c.enqueue({ type: "text-start", id: "0" }), c.error(new Error("broken"))),
        }),
      }),
    });
    const { stream } = await withMemory(failing, { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Count." }] }],
    });
    await expect(convertReadableStreamToArray(stream)).rejects.toThrow("broken");
    expect(await messagesOf(memory, thread)).toEqual([]);
  });

  it("that was broken off and is asked for again with its name is saved whole then", async () => {
    const { user, memory, thread } = await begin();
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Count." }] }];
    const broken = await withMemory(hesitant(), { memory, user, thread, turn: "t" }).doStream({ prompt });
    const reader = broken.stream.getReader();
    for (let i = 0; i < 4; i++) await reader.read();
    await reader.cancel();
    await generateText({
      model: withMemory(scripted(says("one two three")), { memory, user, thread, turn: "t" }),
      prompt: "Count.",
    });
    expect((await textsOf(memory, thread)).at(-1)).toEqual(["assistant", "one two three"]);
  });

  it("is not read ahead of its reader", async () => {
    const { user, memory, thread } = await begin();
    let pulled = 0;
    const model = new MockLanguageModelV4({
      doStream: async () => ({
        stream: new ReadableStream<StreamPart>(
          { pull: (c) => (pulled++, c.enqueue({ type: "ping" })) },
          { highWaterMark: 0 },
        ),
      }),
    });
    const { stream } = await withMemory(model, { memory, user, thread }).doStream({
      prompt: [{ role: "user", content: [{ type: "text", text: "Go." }] }],
    });
    const reader = stream.getReader();
    await reader.read();
    await reader.read();
    expect(pulled).toBe(2);
    await reader.cancel();
  });
});
