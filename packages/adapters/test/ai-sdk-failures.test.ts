// What the middleware does where memory, or the model, fails.
import { generateText } from "ai";
import { describe, expect, it, vi } from "vitest";
import type { ConversationOptions } from "../src/ai-sdk.ts";
import type { CairnError, CairnOptions } from "../../client/src/index.ts";
import { says, scripted } from "./ai-sdk-model.ts";
import { begin, messagesOf, withMemory } from "./ai-sdk-thread.ts";
import { clientOf, newUser } from "./cairn.ts";

describe("failures of memory", () => {
  const down: Partial<CairnOptions> = { retry: false, fetch: () => new Response("", { status: 503 }) };

  it.each([
    ["context", {}],
    ["history", { context: false }],
  ] as const)("break no answer, and are told with what could not be saved (%s)", async (doing, how) => {
    const { user, memory, thread } = await begin(down);
    const told: unknown[] = [];
    const onError: ConversationOptions["onError"] = (error, failure) =>
      told.push([failure.doing, String(error), failure]);
    const model = scripted(says("ok"));
    const { text } = await generateText({
      model: withMemory(model, { memory, user, thread, history: 5, onError, ...how }),
      prompt: "hi",
    });
    expect(text).toBe("ok");
    expect(told).toMatchObject([
      [doing, expect.stringContaining("503"), {}],
      ["save", expect.stringContaining("503"), { messages: [{ role: "user" }, { role: "assistant" }] }],
    ]);
  });

  it("break no answer either where who is told of them fails, at once or later", async () => {
    const { user, memory, thread } = await begin(down);
    const logged = vi.spyOn(console, "error").mockReturnValue();
    const worse = new Error("the log is full");
    const throwing = () => {
      throw worse;
    };
    for (const onError of [throwing, async () => throwing()]) {
      const model = withMemory(scripted(says("ok")), { memory, user, thread, context: false, onError });
      expect((await generateText({ model, prompt: "hi" })).text).toBe("ok");
    }
    expect(logged.mock.calls.map((words) => words[1])).toEqual([worse, worse]);
    logged.mockRestore();
  });

  it("are none that a runtime without AbortSignal.any has: it says so", async () => {
    const { user, memory } = await begin();
    // As in Node before 20.3.
    const missing = vi.spyOn(AbortSignal, "any").mockImplementation(() => {
      throw new TypeError("AbortSignal.any is not a function");
    });
    const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "hi" }] }];
    const abortSignal = new AbortController().signal;
    const run = withMemory(scripted(says("ok")), { memory, user, onError: () => {} });
    await expect(run.doGenerate({ prompt, abortSignal })).rejects.toThrow("AbortSignal.any");
    missing.mockRestore();
  });

  it("are the call's where memory is strict", async () => {
    const { user, memory, thread } = await begin(down);
    const model = scripted(says("ok"));
    const run = generateText({
      model: withMemory(model, { memory, user, thread, strict: true }),
      prompt: "hi",
    });
    await expect(run).rejects.toMatchObject({ name: "CairnError", status: 503 });
    expect(model.doGenerateCalls).toHaveLength(0);
    const unsaved = generateText({
      model: withMemory(model, { memory, user, thread, context: false, strict: true }),
      prompt: "hi",
    });
    await expect(unsaved).rejects.toMatchObject({ name: "CairnError", status: 503 });
  });

  it("are those that take too long, too", async () => {
    const never = (request: Request) =>
      new Promise<Response>((_, reject) =>
        request.signal.addEventListener("abort", () => reject(new Error("gone"))),
      );
    const { user, memory, thread } = await begin({ fetch: never });
    const told: string[] = [];
    const { text } = await generateText({
      model: withMemory(scripted(says("ok")), {
        memory,
        user,
        thread,
        timeoutMs: 50,
        onError: (error) => told.push((error as CairnError).code),
      }),
      prompt: "hi",
    });
    expect([text, told]).toEqual(["ok", ["timeout", "timeout"]]);
  });

  it("are told of a token that may not", async () => {
    const { user, thread } = await begin();
    const stranger = await clientOf(newUser());
    const told: string[] = [];
    const { text } = await generateText({
      model: withMemory(scripted(says("ok")), {
        memory: stranger,
        user,
        thread,
        onError: (error) => told.push(String(error)),
      }),
      prompt: "hi",
    });
    expect(text).toBe("ok");
    expect(told).toEqual([expect.stringContaining("not_found"), expect.stringContaining("not_found")]);
  });

  it("and what the caller ends is ended, and no failure", async () => {
    const { user, memory, thread } = await begin();
    const told: unknown[] = [];
    const run = generateText({
      model: withMemory(scripted(says("ok")), { memory, user, thread, onError: (error) => told.push(error) }),
      prompt: "hi",
      abortSignal: AbortSignal.abort(),
    });
    await expect(run).rejects.toMatchObject({ name: "AbortError" });
    expect(told).toEqual([]);
    expect(await messagesOf(memory, thread)).toEqual([]);
  });

  it("and of the model leave nothing in the thread", async () => {
    const { user, memory, thread } = await begin();
    const run = generateText({
      model: withMemory(scripted(new Error("no")), { memory, user, thread }),
      prompt: "hi",
      maxRetries: 0,
    });
    await expect(run).rejects.toThrow("no");
    expect(await messagesOf(memory, thread)).toEqual([]);
  });
});
