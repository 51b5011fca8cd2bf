// What the middleware saves of a turn, and that it saves it once.
import {
  convertToModelMessages,
  generateText,
  isStepCount,
  jsonSchema,
  type LanguageModelMiddleware,
  type ModelMessage,
  tool,
  type UIMessage,
  wrapLanguageModel,
} from "ai";
import { describe, expect, it } from "vitest";
import { cairnMemory, type ConversationOptions } from "../src/ai-sdk.ts";
import type { Fetch } from "../../client/src/index.ts";
import { calls, promptsOf, says, scripted, textIn } from "./ai-sdk-model.ts";
import { begin, messagesOf, textsOf, weather, withMemory } from "./ai-sdk-thread.ts";
import { clientOf } from "./cairn.ts";

describe("after a call", () => {
  it("saves the turn: what was said, the calls, their results and the answer", async () => {
    const { user, memory, thread } = await begin();
    const model = scripted(calls("weather", { place: "Lisbon" }, "call_1"), says("It is sunny."));
    await generateText({
      model: withMemory(model, { memory, user, thread }),
      instructions: "never stored",
      tools: { weather },
      stopWhen: isStepCount(5),
      prompt: "How is the weather in Lisbon?",
    });
    expect(await messagesOf(memory, thread)).toEqual([
      { role: "user", content: [{ type: "text", text: "How is the weather in Lisbon?" }] },
      {
        role: "assistant",
        content: [
          { type: "tool-call", toolCallId: "call_1", toolName: "weather", input: { place: "Lisbon" } },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "call_1",
            toolName: "weather",
            output: { type: "text", value: "sunny in Lisbon" },
          },
        ],
      },
      { role: "assistant", content: [{ type: "text", text: "It is sunny." }] },
    ]);
  });

  it("saves only what is new of a conversation that is sent whole", async () => {
    const { user, memory, thread } = await begin();
    const model = scripted(says("first"), says("second"));
    const wrapped = withMemory(model, { memory, user, thread });
    const messages: ModelMessage[] = [{ role: "user", content: "one" }];
    const { response } = await generateText({ model: wrapped, messages });
    messages.push(...response.messages, { role: "user", content: "two" });
    await generateText({ model: wrapped, messages });
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "one"],
      ["assistant", "first"],
      ["user", "two"],
      ["assistant", "second"],
    ]);
  });

  it("stores messages whole, files and metadata and reasoning too, as the SDK takes them again", async () => {
    const { user, memory, thread } = await begin();
    const model = scripted([
      { type: "reasoning", text: "hm", providerMetadata: { p: { signature: "s" } } },
      { type: "text", text: "A cat." },
      { type: "file", mediaType: "image/png", data: { type: "data", data: new Uint8Array([1, 2, 3]) } },
    ]);
    const bytes = new Uint8Array(20_000).map((_, i) => i % 256);
    const parts = [
      { type: "text" as const, text: "What is this?", providerOptions: { p: { cache: true } } },
      { type: "file" as const, mediaType: "image/png", data: bytes, filename: "cat.png" },
    ];
    await generateText({
      model: withMemory(model, { memory, user, thread }),
      messages: [{ role: "user", content: parts }],
    });
    const stored = await messagesOf(memory, thread);
    expect(stored).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "What is this?", providerOptions: { p: { cache: true } } },
          {
            type: "file",
            mediaType: "image/png",
            filename: "cat.png",
            data: Buffer.from(bytes).toString("base64"),
          },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm", providerOptions: { p: { signature: "s" } } },
          { type: "text", text: "A cat." },
          { type: "file", mediaType: "image/png", data: "AQID" },
        ],
      },
    ]);
    const again = scripted(says("ok"));
    const whole = [...(stored as ModelMessage[]), { role: "user" as const, content: "Sure?" }];
    await generateText({ model: again, messages: whole });
    expect(promptsOf(again)[0]).toHaveLength(3);
  });

  it("is what the next run, of another process, is told", async () => {
    const { user, memory, thread } = await begin();
    await generateText({
      model: withMemory(scripted(says("Noted.")), { memory, user, thread }),
      prompt: "My cat is called Olive.",
    });
    const model = scripted(says("Olive."));
    const another = await clientOf(user);
    await generateText({
      model: withMemory(model, { memory: another, user }),
      prompt: "What is my cat called?",
    });
    expect(textIn(promptsOf(model)[0])).toContain("My cat is called Olive.");
    expect(textIn(promptsOf(model)[0])).toContain("[user said | ");
  });

  it("does not tell the model what the prompt says already", async () => {
    const { user, memory, thread } = await begin();
    const model = scripted(says("Noted."));
    const wrapped = withMemory(model, { memory, user, thread });
    const messages: ModelMessage[] = [{ role: "user", content: "My cat is called Olive." }];
    const { response } = await generateText({ model: wrapped, messages });
    await generateText({
      model: wrapped,
      messages: [...messages, ...response.messages, { role: "user", content: "What is my cat called?" }],
    });
    expect(textIn(promptsOf(model)[1])).not.toContain("<memory>");
  });

  it("goes on with the thread of an agent, or begins it, however many ask at once", async () => {
    const { user, memory } = await begin();
    const run = (text: string) =>
      generateText({
        model: withMemory(scripted(says("ok")), { memory, user, thread: { agent: "planner" } }),
        prompt: text,
      });
    await Promise.all(["a", "b", "c"].map(run));
    const { items } = await memory.threads.list(user, { agent: "planner" });
    expect(items).toHaveLength(1);
    expect(items[0]?.length).toBe(6);
  });

  it("goes on with another thread of the agent where the one it had was deleted", async () => {
    const { user, memory } = await begin();
    const told: unknown[] = [];
    const options = { memory, user, thread: { agent: "chat" }, history: 10, context: false } as const;
    const model = scripted(says("ok"));
    const wrapped = withMemory(model, { ...options, onError: (error) => told.push(error) });
    await generateText({ model: wrapped, prompt: "one" });
    const [first] = (await memory.threads.list(user, { agent: "chat" })).items;
    await memory.threads.delete(first?.id ?? "");
    for (const prompt of ["two", "three"]) await generateText({ model: wrapped, prompt });
    expect(told).toEqual([]);
    expect(promptsOf(model).map(({ length }) => length)).toEqual([1, 1, 3]);
    const { items } = await memory.threads.list(user, { agent: "chat" });
    expect(items).toHaveLength(1);
    expect((await textsOf(memory, items[0]?.id ?? "")).map(([, text]) => text)).toEqual([
      "two",
      "ok",
      "three",
      "ok",
    ]);
  });

  it("also where that shows only when the turn is saved", async () => {
    const { user, memory } = await begin();
    const model = scripted(says("ok"));
    const wrapped = withMemory(model, { memory, user, thread: { agent: "chat" }, strict: true });
    await generateText({ model: wrapped, prompt: "one" });
    const [first] = (await memory.threads.list(user)).items.filter(({ agent }) => agent === "chat");
    await memory.threads.delete(first?.id ?? "");
    await generateText({ model: wrapped, prompt: "two" });
    const { items } = await memory.threads.list(user, { agent: "chat" });
    expect(await textsOf(memory, items[0]?.id ?? "")).toHaveLength(2);
  });

  it("asks for the agent's thread once, and no request waits for another one's question", async () => {
    const sent: string[] = [];
    const hung = Promise.withResolvers<Response>();
    const fetching: Fetch = (request) => {
      if (!request.url.endsWith("/resume")) return fetch(request);
      sent.push(request.url);
      return sent.length === 1 ? hung.promise : fetch(request);
    };
    const { user, memory } = await begin({ fetch: fetching, retry: false });
    const options = { memory, user, thread: { agent: "chat" }, context: false, onError: () => {} } as const;
    const wrapped = withMemory(scripted(says("ok")), options);
    const first = generateText({ model: wrapped, prompt: "one" });
    await expect.poll(() => sent).toHaveLength(1);
    for (const prompt of ["two", "three"]) await generateText({ model: wrapped, prompt });
    hung.reject(new TypeError("fetch failed"));
    await first;
    expect(sent).toHaveLength(2);
    const { items } = await memory.threads.list(user, { agent: "chat" });
    expect(items).toMatchObject([{ length: 4 }]);
  });

  it("saves nothing without a thread, or if it is told not to", async () => {
    const { user, memory, thread } = await begin();
    await generateText({ model: withMemory(scripted(says("x")), { memory, user }), prompt: "a" });
    await generateText({
      model: withMemory(scripted(says("x")), { memory, user, thread, save: false }),
      prompt: "a",
    });
    expect(await messagesOf(memory, thread)).toEqual([]);
  });

  it("saves later, under the client's waitUntil, if it is told to", async () => {
    const waiting: Promise<unknown>[] = [];
    const { user, memory, thread } = await begin({ waitUntil: (work) => void waiting.push(work) });
    await generateText({
      model: withMemory(scripted(says("x")), { memory, user, thread, save: "later" }),
      prompt: "a",
    });
    expect(waiting).toHaveLength(1);
    await Promise.all(waiting);
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "a"],
      ["assistant", "x"],
    ]);
  });
});

describe("what is saved is saved once", () => {
  it("when the SDK tries a call again", async () => {
    const { user, memory, thread } = await begin();
    const { APICallError } = await import("ai");
    const busy = new APICallError({
      message: "busy",
      url: "u",
      requestBodyValues: {},
      statusCode: 503,
      isRetryable: true,
    });
    const model = scripted(busy, says("ok"));
    await generateText({ model: withMemory(model, { memory, user, thread }), prompt: "hi", maxRetries: 2 });
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "hi"],
      ["assistant", "ok"],
    ]);
  });

  it("when a middleware around it calls twice", async () => {
    const { user, memory, thread } = await begin();
    const twice: LanguageModelMiddleware = {
      wrapGenerate: async ({ doGenerate }) => {
        await doGenerate();
        return doGenerate();
      },
    };
    const model = wrapLanguageModel({
      model: scripted(says("one"), says("two")),
      middleware: [twice, cairnMemory({ memory, user, thread })],
    });
    await generateText({ model, prompt: "hi" });
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "hi"],
      ["assistant", "one"],
    ]);
  });

  it("when the answer of the append is lost", async () => {
    let lost = 0;
    const fetching = async (request: Request) => {
      const answer = await fetch(request);
      if (!request.url.endsWith("/messages") || lost > 0) return answer;
      lost++;
      throw new TypeError("the connection broke");
    };
    const { user, memory, thread } = await begin({ fetch: fetching });
    await generateText({ model: withMemory(scripted(says("ok")), { memory, user, thread }), prompt: "hi" });
    expect(lost).toBe(1);
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "hi"],
      ["assistant", "ok"],
    ]);
  });

  it("when the turn is run again by another process, if the turn has a name", async () => {
    const { user, memory, thread } = await begin();
    const run = async (turn: string, answer: string) =>
      generateText({
        model: withMemory(scripted(calls("weather", { place: "Rome" }), says(answer)), {
          memory: await clientOf(user),
          user,
          thread,
          turn,
        }),
        tools: { weather },
        stopWhen: isStepCount(3),
        prompt: "And in Rome?",
      });
    await run("message-1", "sunny");
    await run("message-1", "sunny indeed");
    expect(await textsOf(memory, thread)).toHaveLength(4);
    await run("message-2", "still sunny");
    expect((await textsOf(memory, thread)).at(-1)).toEqual(["assistant", "still sunny"]);
    expect(await textsOf(memory, thread)).toHaveLength(8);
  });

  it("while a call waits for an approval, which another process takes", async () => {
    const { user, memory, thread } = await begin();
    const order = tool({
      inputSchema: jsonSchema<{ tea: string }>({ type: "object", properties: { tea: { type: "string" } } }),
      needsApproval: true,
      execute: () => "ordered",
    });
    const run = async (messages: Omit<UIMessage, "id">[], ...answers: Parameters<typeof scripted>) =>
      generateText({
        model: withMemory(scripted(...answers), { memory: await clientOf(user), user, thread }),
        tools: { order },
        stopWhen: isStepCount(3),
        messages: await convertToModelMessages(messages),
      });
    const uiMessage = (role: "user" | "assistant", text: string) => ({
      role,
      parts: [{ type: "text" as const, text }],
    });
    const asked = uiMessage("user", "Order some tea.");
    const waiting = await run([asked], calls("order", { tea: "rooibos" }, "c1"));
    const [id = ""] = waiting.content.flatMap((part) =>
      part.type === "tool-approval-request" ? [part.approvalId] : [],
    );
    const call = { type: "tool-order" as const, toolCallId: "c1", input: { tea: "rooibos" } };
    const step = { type: "step-start" as const };
    const approval = { id, approved: true as const };
    const approved = { ...call, state: "approval-responded" as const, approval };
    await run([asked, { role: "assistant", parts: [step, approved] }], says("It is ordered."));
    const answered = { ...call, state: "output-available" as const, approval, output: "ordered" };
    const parts = [step, answered, step, ...uiMessage("assistant", "It is ordered.").parts];
    await run(
      [asked, { role: "assistant", parts }, uiMessage("user", "Thank you.")],
      says("You are welcome."),
    );
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "Order some tea."],
      ["assistant", "tool-call"],
      ["tool", "tool-result"],
      ["assistant", "It is ordered."],
      ["user", "Thank you."],
      ["assistant", "You are welcome."],
    ]);
  });

  it("of a UI message that has no step between its tool and its text, the result", async () => {
    const { user, memory, thread } = await begin();
    const run = async (messages: Omit<UIMessage, "id">[], ...answers: Parameters<typeof scripted>) =>
      generateText({
        model: withMemory(scripted(...answers), { memory: await clientOf(user), user, thread }),
        tools: { weather },
        stopWhen: isStepCount(3),
        messages: await convertToModelMessages(messages),
      });
    const uiMessage = (role: "user" | "assistant", text: string) => ({
      role,
      parts: [{ type: "text" as const, text }],
    });
    const asked = uiMessage("user", "How is the weather in Rome?");
    await run([asked], calls("weather", { place: "Rome" }, "c1"), says("It is sunny."));
    const call = { type: "tool-weather" as const, toolCallId: "c1", input: { place: "Rome" } };
    const answered = { ...call, state: "output-available" as const, output: "sunny in Rome" };
    const parts = [answered, ...uiMessage("assistant", "It is sunny.").parts];
    await run([asked, { role: "assistant", parts }, uiMessage("user", "Thank you.")], says("Welcome."));
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "How is the weather in Rome?"],
      ["assistant", "tool-call"],
      ["tool", "tool-result"],
      ["assistant", "It is sunny."],
      ["user", "Thank you."],
      ["assistant", "Welcome."],
    ]);
  });

  it("and the results of a run that ended with them are saved with the next question", async () => {
    const { user, memory, thread } = await begin();
    const model = scripted(calls("weather", { place: "Rome" }, "c1"), says("Welcome."));
    const wrapped = withMemory(model, { memory, user, thread });
    const asked: ModelMessage = { role: "user", content: "How is the weather in Rome?" };
    const { response } = await generateText({ model: wrapped, tools: { weather }, messages: [asked] });
    await generateText({
      model: wrapped,
      tools: { weather },
      messages: [asked, ...response.messages, { role: "user", content: "Thank you." }],
    });
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "How is the weather in Rome?"],
      ["assistant", "tool-call"],
      ["tool", "tool-result"],
      ["user", "Thank you."],
      ["assistant", "Welcome."],
    ]);
  });

  it("the question of a named turn too, whose answer was broken off before it came whole", async () => {
    const { user, memory, thread } = await begin();
    const model = withMemory(scripted(says("one two three")), { memory, user, thread, turn: "t" });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Count." }] }];
    const { stream } = await model.doStream({ prompt });
    const reader = stream.getReader();
    for (let i = 0; i < 3; i++) await reader.read();
    await reader.cancel();
    await generateText({ model, prompt: "Count." });
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "Count."],
      ["assistant", "one "],
      ["assistant", "one two three"],
    ]);
  });

  it("and of a named turn that was saved in part, the rest is told, and saved when it is tried again", async () => {
    let appends = 0;
    const fetching: Fetch = (request) =>
      request.method === "POST" && request.url.endsWith("/messages") && ++appends === 2
        ? new Response("", { status: 503 })
        : fetch(request);
    const { user, memory, thread } = await begin({ fetch: fetching, retry: false });
    const told: unknown[] = [];
    const onError: ConversationOptions["onError"] = (_, failure) => told.push(failure);
    const model = withMemory(scripted(says("ok")), { memory, user, thread, turn: "t", onError });
    await generateText({ model, prompt: "hi" });
    const answer = { role: "assistant", content: [{ type: "text", text: "ok" }] };
    expect(told).toEqual([{ doing: "save", messages: [answer] }]);
    await generateText({ model, prompt: "hi" });
    expect(await textsOf(memory, thread)).toEqual([
      ["user", "hi"],
      ["assistant", "ok"],
    ]);
  });

  it("and another message under the same name is saved too", async () => {
    const { user, memory, thread } = await begin();
    const model = withMemory(scripted(says("ok")), { memory, user, thread, turn: "always the same" });
    await generateText({ model, prompt: "one" });
    await generateText({ model, prompt: "two" });
    expect(await textsOf(memory, thread)).toHaveLength(4);
  });

  it("and runs on one thread at once are all saved", async () => {
    const { user, memory, thread } = await begin();
    const all = Array.from({ length: 6 }, (_, i) => `message ${i}`);
    await Promise.all(
      all.map((prompt) =>
        generateText({ model: withMemory(scripted(says("ok")), { memory, user, thread }), prompt }),
      ),
    );
    const texts = await textsOf(memory, thread);
    expect(texts).toHaveLength(12);
    for (const text of all)
      expect(texts[texts.findIndex(([, said]) => said === text) + 1]).toEqual(["assistant", "ok"]);
  });

  it("and a user who says the same again has said it twice", async () => {
    const { user, memory, thread } = await begin();
    const wrapped = withMemory(scripted(says("ok")), { memory, user, thread, history: 10 });
    await generateText({ model: wrapped, prompt: "yes" });
    await generateText({ model: wrapped, prompt: "yes" });
    expect(await textsOf(memory, thread)).toHaveLength(4);
  });
});
