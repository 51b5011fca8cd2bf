// The example as it runs: its Worker and its Cairn, bound to each other, over HTTP; and the prompts that its model receives.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import type { Cairn, CairnOptions } from "../../client/src/index.ts";
import { link } from "../../dev/example.ts";
import { newUser, tokenOf } from "./cairn.ts";

const root = join(import.meta.dirname, "../../..");
const example = join(root, "examples/edge-chat");
const read = (file: string) => readFileSync(join(example, file), "utf8");

let harness: TestHarness;
let url: string;

/** The chat's own configuration, without the binding for which wrangler asks for an account. */
function withoutAccount(): object {
  const { ai: _, ...config } = parse(read("wrangler.toml"));
  const assets = { ...(config.assets as object), directory: join(example, "public") };
  return { ...config, main: join(example, "src/index.ts"), assets, vars: { MODEL: "scripted" } };
}

beforeAll(async () => {
  link("edge-chat");
  harness = createTestHarness({
    workers: [
      { config: withoutAccount() },
      {
        configPath: join(example, "cairn/wrangler.toml"),
        secrets: { CAIRN_SECRET: randomBytes(32).toString("base64url") },
      },
    ],
  });
  url = (await harness.listen()).url.origin;
  await harness.getWorker("edge-chat-memory").applyD1Migrations("DB");
});
afterAll(() => harness.close());

/** All pieces of a stream, as one. */
async function wholeOf(stream: ReadableStream<string>): Promise<string> {
  let whole = "";
  for await (const piece of stream) whole += piece;
  return whole;
}

type Message = { role: string; content: string };

/** A browser: it keeps its cookie, and the thread that it shows. */
class Visitor {
  cookie: string | undefined;
  thread: string | null = null;

  async call(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    if (this.cookie !== undefined) headers.set("Cookie", this.cookie);
    const response = await fetch(`${url}/api/${path}`, { ...options, headers });
    const [set] = response.headers.getSetCookie();
    if (set !== undefined) [this.cookie] = set.split(";");
    return response;
  }

  /** As the page does, which opens its list first. */
  async send(text: unknown, options: RequestInit = {}): Promise<Response> {
    if (this.cookie === undefined) await this.threads();
    const path = this.thread === null ? "chat" : `chat/${this.thread}`;
    const response = await this.call(path, { method: "POST", body: JSON.stringify({ text }), ...options });
    if (response.ok) this.thread = response.headers.get("Thread");
    return response;
  }

  say = async (text: string): Promise<string> => (await this.send(text)).text();

  async #json<T>(path: string): Promise<T> {
    return (await (await this.call(path)).json()) as T;
  }

  threads = async () => (await this.#json<{ threads: { id: string; title: string }[] }>("threads")).threads;
  messages = async () => (await this.#json<{ messages: Message[] }>(`threads/${this.thread}`)).messages;
  facts = async () => (await this.#json<{ facts: string[] }>("facts")).facts;
}

describe("the edge chat", () => {
  it("answers in pieces, and stores both messages before the answer ends", async () => {
    const visitor = new Visitor();
    const response = await visitor.send("hello");
    expect(response.headers.get("Content-Type")).toBe("text/plain; charset=utf-8");
    expect(await response.text()).toBe("I know nothing about you yet.");
    expect(await visitor.messages()).toEqual([
      { role: "user", content: "hello" },
      { role: "assistant", content: "I know nothing about you yet." },
    ]);
  });

  it("knows in a new conversation what a former one said, and lists both", async () => {
    const visitor = new Visitor();
    await visitor.say("I live in Lisbon. My cat is called Mona!");
    await expect.poll(() => visitor.facts()).toHaveLength(2);
    visitor.thread = null;
    const told = await visitor.say("Where do I live?");
    expect(told).toContain("lives in Lisbon");
    // The script reads its memory, and not its own answer.
    expect(await visitor.say("thanks!")).toBe(told);
    expect((await visitor.threads()).map(({ title }) => title)).toEqual([
      "Where do I live?",
      "I live in Lisbon. My cat is called Mona!",
    ]);
  });

  it("keeps two visitors apart, also by the id of a conversation", async () => {
    const [ada, eve] = [new Visitor(), new Visitor()];
    await ada.say("My name is Ada");
    await expect.poll(() => ada.facts()).toHaveLength(1);
    expect(await eve.say("Who am I?")).not.toContain("Ada");
    eve.thread = ada.thread;
    expect((await eve.send("Who am I?")).status).toBe(404);
    expect((await eve.call(`threads/${ada.thread}`)).status).toBe(404);
    for (const cookie of ["visitor=*", "visitor=ada", `visitor=${"0".repeat(36)}`]) {
      eve.cookie = cookie;
      expect((await (await eve.call("threads")).json()) as object).toEqual({ threads: [] });
    }
  });

  it("forgets a visitor whole, also for whoever kept the cookie", async () => {
    const [visitor, old] = [new Visitor(), new Visitor()];
    await visitor.say("I live in Lisbon");
    await expect.poll(() => visitor.facts()).toHaveLength(1);
    old.cookie = visitor.cookie;
    expect((await visitor.call("me", { method: "DELETE" })).status).toBe(200);
    expect(visitor.cookie).not.toBe(old.cookie);
    for (const one of [visitor, old]) {
      expect(await one.threads()).toEqual([]);
      expect(await one.facts()).toEqual([]);
    }
  });

  it("refuses what says nothing, too much, no JSON, or comes from another site", async () => {
    const visitor = new Visitor();
    for (const text of ["", "  ", "x".repeat(4001), 7, null, "\ud800", "a\0b"])
      expect((await visitor.send(text)).status).toBe(400);
    expect((await visitor.send("", { body: "{" })).status).toBe(400);
    const from = (site: string) => visitor.send("hi", { headers: { "Sec-Fetch-Site": site } });
    expect((await from("cross-site")).status).toBe(403);
    expect((await from("same-origin")).status).toBe(200);
    expect((await visitor.call("nothing")).status).toBe(404);
    expect((await new Visitor().call("chat", { method: "POST", body: '{"text":"hi"}' })).status).toBe(401);
  });

  it("leaves nothing in a cache, and a cookie that no script and no other site gets", async () => {
    const response = await new Visitor().call("threads");
    expect(response.headers.get("Cache-Control")).toMatch(/^no-store/);
    expect(response.headers.get("Set-Cookie")).toContain("HttpOnly; SameSite=Strict");
  });

  it("gives what anybody says as text, to a page that can run nothing of it", async () => {
    const page = await fetch(url);
    expect(page.headers.get("Content-Security-Policy")).toContain("script-src 'self';");
    expect(await page.text()).not.toMatch(/<script>|\son\w+=|style="/);
    expect(read("public/app.js")).not.toMatch(/innerHTML|insertAdjacentHTML|document\.write/);
  });

  it("has 150 lines, without its models and its page", () => {
    const lines = ["src/index.ts", "src/chat.ts"].flatMap((file) => read(file).trimEnd().split("\n"));
    expect(lines.length).toBeLessThanOrEqual(150);
  });
});

describe("the prompt of the edge chat", () => {
  type Model = {
    stream: (prompt: Message[]) => Promise<ReadableStream<string>>;
    facts: (text: string) => Promise<{ predicate: string; object: string }[]>;
  };
  const load = async <T>(file: string) => (await import(join(example, file))) as T;

  /** A chat whose model answers "Noted." and keeps its prompts. What is left for later can be awaited. */
  async function chatting(pieces: () => ReadableStream<string> = () => ReadableStream.from(["No", "ted."])) {
    const { answer } = await load<{
      answer: (chat: object, thread: string, text: string) => Promise<ReadableStream<string>>;
    }>("src/chat.ts");
    const { modelOf } = await load<{ modelOf: (env: object) => Model }>("src/models.ts");
    // The built client, which the example imports: its errors are of one class.
    const { cairn } = await load<{ cairn: (options: CairnOptions) => Cairn }>(
      "node_modules/edgecairn/dist/client/index.js",
    );
    const user = newUser();
    const later: Promise<unknown>[] = [];
    const failures: unknown[] = [];
    const memory = cairn({
      url: inject("cairn").url,
      token: await tokenOf(user),
      waitUntil: (work) => void later.push(work),
      onLaterError: (error) => void failures.push(error),
    });
    const prompts: Message[][] = [];
    const model: Model = {
      ...modelOf({ MODEL: "scripted" }),
      stream: async (prompt) => {
        prompts.push(prompt);
        return pieces();
      },
    };
    const newThread = async () => (await memory.threads.create(user, { agent: "edge-chat" })).id;
    const begin = async (thread: string, text: string) => answer({ memory, user, model }, thread, text);
    const say = async (thread: string, text: string): Promise<string> => {
      await wholeOf(await begin(thread, text));
      return JSON.stringify(prompts.at(-1));
    };
    /** Resolves when these are the user's facts: they are stored a moment after the answer. */
    const known = (...facts: string[]) =>
      expect
        .poll(async () => (await memory.memories.list(user)).items.map((fact) => fact.text))
        .toEqual(facts);
    return { memory, user, prompts, later, failures, newThread, begin, say, known };
  }

  it("tells only where the user lives now, and is the bare message for a thanks", async () => {
    const { newThread, say, known, prompts } = await chatting();
    const first = await newThread();
    await say(first, "I live in Lisbon");
    await known("I live in Lisbon");
    const second = await newThread();
    expect(await say(second, "Where do I live?")).toContain("user: lives in Lisbon");
    await say(second, "I now live in Porto");
    await known("I now live in Porto");
    const third = await newThread();
    const prompt = await say(third, "Where do I live?");
    expect(prompt).toContain("user: lives in Porto");
    expect(prompt).not.toContain("Lisbon");
    await say(third, "thanks!");
    expect(prompts.at(-1)?.slice(1).at(-1)).toEqual({ role: "user", content: "thanks!" });
    // All that precedes it are the bytes of the prompt before, and the answer to that.
    expect(prompts.at(-1)?.slice(0, -2)).toEqual(prompts.at(-2));
  });

  it("stores the turn though nobody reads the answer to its end", async () => {
    const { memory, begin, newThread, later } = await chatting();
    const thread = await newThread();
    await (await begin(thread, "hello")).cancel();
    await Promise.all(later);
    expect((await memory.threads.read(thread)).items.map(({ message }) => message.content)).toEqual([
      "hello",
      "Noted.",
    ]);
  });

  it("stores nothing of a user who is forgotten meanwhile, and ends in peace", async () => {
    const { memory, user, begin, newThread, later, failures } = await chatting();
    const reply = await begin(await newThread(), "I live in Lisbon");
    await memory.erasures.user(user);
    expect(await wholeOf(reply)).toBe("Noted.");
    await Promise.all(later);
    expect((await memory.threads.list(user)).items).toEqual([]);
    expect((await memory.memories.list(user)).items).toEqual([]);
    expect(failures).toEqual([]);
  });

  it("stores nothing of a turn whose model breaks off, and says so", async () => {
    const broken = () =>
      new ReadableStream<string>({
        start(controller) {
          controller.enqueue("No");
        },
        pull(controller) {
          controller.error(new Error("broken off"));
        },
      });
    const { memory, begin, newThread, later, failures } = await chatting(broken);
    const thread = await newThread();
    await expect(wholeOf(await begin(thread, "hello"))).rejects.toThrow("broken off");
    await Promise.all(later);
    expect((await memory.threads.read(thread)).items).toEqual([]);
    expect(failures).toHaveLength(1);
  });

  it("goes to Workers AI as it is, and the answer comes from its events", async () => {
    const { modelOf } = await load<{ modelOf: (env: object) => Model }>("src/models.ts");
    const asked: { name: string; input: Record<string, unknown> }[] = [];
    const events = ['data: {"respo', 'nse":"No"}\n\ndata: {"response":"ted."}\n', "\ndata: [DONE]\n\n"];
    const AI = {
      run: async (name: string, input: Record<string, unknown>) => {
        asked.push({ name, input });
        return input.stream === true
          ? ReadableStream.from(events.map((event) => new TextEncoder().encode(event)))
          : { response: { facts: [{ predicate: "lives in", object: "Porto" }] } };
      },
    };
    const model = modelOf({ AI, MODEL: "@cf/some/model" });
    const prompt = [{ role: "user", content: "hi" }];
    expect(await wholeOf(await model.stream(prompt))).toBe("Noted.");
    expect(asked).toEqual([{ name: "@cf/some/model", input: { messages: prompt, stream: true } }]);
    expect(await model.facts("I live in Porto")).toEqual([{ predicate: "lives in", object: "Porto" }]);
  });
});
