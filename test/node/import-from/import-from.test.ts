// `npm run import -- --from SOURCE`, as a person at a terminal runs it, against a real server.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Cairn, cairn } from "../../../client/src/index.ts";
import { developmentSecret } from "../../../scripts/development-secret.ts";
import { freePort, type LocalServer, startLocalServer } from "../../../scripts/local-server.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { run } from "../run.ts";
import * as exports from "./exports.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-import-from-"));
let server: LocalServer;
let proxy: Server;
let url = "";
let token = "";
let memory: Cairn;

/** The requests of the command, and the answers of the proxy; undefined passes a request on. */
let sent: { call: string; trust: string | undefined; body: string }[] = [];
let answer: (call: string) => { status: number; body: unknown } | "gone" | undefined = () => undefined;

beforeAll(async () => {
  server = await startLocalServer({ port: await freePort(), state: join(folder, "state") });
  token = await mintToken(developmentSecret(), { user: "*", scope: ["read", "write", "admin"] }, Date.now());
  memory = cairn({ url: server.url, token });
  proxy = createServer((request, response) => {
    pass(request, response).catch(() => request.socket.destroy());
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
});
afterAll(async () => {
  proxy.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});
async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = "GET", url: path = "", headers } = request;
  const body = await buffer(request);
  sent.push({ call: `${method} ${path}`, trust: headers["cairn-trust"]?.toString(), body: body.toString() });
  const given = answer(`${method} ${path}`);
  if (given === "gone") return void request.socket.destroy();
  if (given !== undefined) return void response.writeHead(given.status).end(JSON.stringify(given.body));
  const kept = ["accept", "authorization", "cairn-trust", "content-type", "idempotency-key"].flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])] as [string, string]],
  );
  const from = await fetch(server.url + path, {
    method,
    headers: kept,
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  });
  response.writeHead(from.status, { "Content-Type": "application/json" }).end(await from.text());
}
beforeEach(() => {
  sent = [];
  answer = () => undefined;
});

let files = 0;
const written = (content: unknown): string => {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
};

async function command(args: string[], env: Record<string, string> = { CAIRN_URL: url, CAIRN_TOKEN: token }) {
  const { output, ended } = run("scripts/import.ts", args, { CAIRN_URL: "", CAIRN_TOKEN: "", ...env });
  return { code: await ended, ...output };
}
/** All that is stored of a user, as bytes. */
const stored = async (user: string): Promise<string> =>
  new Response(await memory.transfer.export(user)).text();
const textsOf = async (user: string): Promise<string[]> =>
  (await memory.memories.list(user, { limit: 1000, order: "asc" })).items.map(({ text }) => text);

describe("a conversation export", () => {
  it("becomes threads and memories with their times, and a second run changes nothing", async () => {
    const args = ["--from", "chatgpt", written(exports.chatgpt), "--user", "gina"];
    const first = await command(args);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toContain("Found for 1 user: 3 memories (3 facts), 2 threads, 12 messages.");
    expect(first.stdout).toContain("Memories: 3 created.\nThreads: 2 created.\nMessages: 12 created.\n");
    const threads = (await memory.threads.list("gina", { order: "created" })).items;
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
    const last = (await memory.threads.read(threads[1]?.id ?? "", { limit: 1 })).items;
    expect(last).toMatchObject([
      { seq: 10, createdAt: Date.UTC(2025, 0, 4), message: { content: "Thanks" } },
    ]);
    const [saved] = (await memory.memories.list("gina", { extractor: "chatgpt", sourceMessage: "bio" }))
      .items;
    expect(saved).toMatchObject({
      text: "Likes green tea.",
      createdAt: Date.UTC(2025, 0, 2),
      source: { thread: threads[1]?.id },
    });
    expect(sent.filter(({ call }) => call.includes("/users/")).map(({ trust }) => trust)).not.toContain(
      undefined,
    );

    const before = await stored("gina");
    const again = await command(args);
    expect(again.code).toBe(0);
    expect(again.stdout).toContain(
      "Memories: 3 there already.\nThreads: 2 there already.\nMessages: 12 there already.\n",
    );
    expect(await stored("gina")).toBe(before);
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
    await command(args([conversation("a", "1", "2"), conversation("b", "1", "2")]));
    const { code, stdout } = await command(
      args([conversation("a", "1", "2", "3", "4"), conversation("b", "1", "other", "3")]),
    );
    expect(code).toBe(1);
    expect(stdout).toContain("Messages: 2 created, 3 there already, 2 left out.");
    expect(stdout).toContain("2 × messages of threads that changed since their import (b)");
    const [b, a] = (await memory.threads.list("grown", { order: "created" })).items;
    const contents = async (id = "") =>
      (await memory.threads.read(id)).items.map(({ message, createdAt }) => [message.content, createdAt]);
    expect(await contents(a?.id)).toEqual(
      ["1", "2", "3", "4"].map((text, i) => [text, Date.UTC(2025, 0, i + 1)]),
    );
    expect((await contents(b?.id)).map(([text]) => text)).toEqual(["1", "2"]);
  });

  it("starts an ingest of each thread with --extract", async () => {
    const { code, stdout } = await command([
      "--from",
      "zep",
      written(exports.zep.sessions),
      "--user",
      "extracted",
      "--extract",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("Extractions: 1 started.");
    const [thread] = (await memory.threads.list("extracted")).items;
    const ingests = sent.filter(({ call }) => call === "POST /v1/users/extracted/ingest");
    expect(ingests).toMatchObject([{ trust: "import", body: JSON.stringify({ threadId: thread?.id }) }]);
  });

  it("without times is the same in a second run", async () => {
    const thread = { thread_id: "g", messages: [{ role: "user", content: "Hi" }] };
    const args = ["--from", "langgraph", written([thread]), "--user", "undated"];
    expect((await command(args)).stdout).toContain("Messages: 1 created.");
    const before = await stored("undated");
    expect((await command(args)).stdout).toContain("Messages: 1 there already.");
    expect(await stored("undated")).toBe(before);
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
    answer = (call) => (call.includes("part=true") && ++parts > 1 ? full : undefined);
    const failed = await command(args);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("storage_quota: full") });
    answer = () => undefined;
    sent = [];
    // The first part was stored.
    const rest = /Threads: 1 there already\.\nMessages: (\d+) created, (\d+) there already\./;
    const [, created, there] = rest.exec((await command(args)).stdout) ?? [];
    expect(Number(there)).toBeGreaterThan(0);
    expect(Number(created) + Number(there)).toBe(20);
    expect(sent.filter(({ call }) => call.includes("part=true"))).toHaveLength(2);
    expect((await command(args)).stdout).toContain("Messages: 20 there already.");
  });
});

describe("memories", () => {
  const row = (id: string, text: string, day = 1) => ({
    id,
    memory: text,
    user_id: "mia",
    created_at: "2025-01-01T00:00:00Z",
    updated_at: `2025-01-0${day}T00:00:00Z`,
  });

  it("of several users go to each", async () => {
    const { code, stdout } = await command([
      "--from=mem0",
      written(exports.mem0.platform),
      "--scope",
      "trip",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("Found for 2 users: 2 memories (2 facts)");
    expect(stdout).toContain("  1 × no user: name one with --user, or a field with --user-field (m4)");
    expect((await memory.memories.list("bob", { scope: ["trip"] })).items).toMatchObject([
      { text: "Bob plays the cello 🎻", externalId: "mem0:m2" },
    ]);
  });

  it("that the source changed replace theirs, unless they were changed here later", async () => {
    const file = (...rows: unknown[]) => ["--from", "mem0", written(rows)];
    await command(file(row("1", "tea"), row("2", "cats"), row("3", "rain")));
    const [cats] = (await memory.memories.list("mia", { externalId: ["mem0:2"] })).items;
    await memory.memories.update("mia", cats?.id ?? "", { text: "dogs" });
    const { stdout } = await command(file(row("1", "coffee", 2), row("2", "birds", 2), row("3", "rain")));
    expect(stdout).toContain("Memories: 1 changed, 2 there already.");
    expect((await textsOf("mia")).toSorted()).toEqual(["coffee", "dogs", "rain"]);
  });

  it("that contradict what a user changed here wait in quarantine", async () => {
    const file = (...rows: unknown[]) => ["--from", "mem0", written(rows), "--user", "quin"];
    await command(file(row("1", "tea")));
    const [tea] = (await memory.memories.list("quin")).items;
    expect(tea?.trust).toBe("import");
    await memory.memories.update("quin", tea?.id ?? "", { text: "no tea" });
    const later = { ...row("1", "coffee"), updated_at: "2100-01-01T00:00:00Z" };
    expect((await command(file(later))).stdout).toContain("Memories: 1 in quarantine.");
    expect(await textsOf("quin")).toEqual(["no tea"]);
    expect((await command(file(later))).stdout).toContain("Memories: 1 there already.");
  });

  it("that were refused are named, and the others are stored", async () => {
    await memory.memories.remember("nora", {
      kind: "procedure",
      title: "t",
      text: "x",
      externalId: "mem0:1",
    });
    const rows = [row("0", "a"), row("1", "b"), row("2", "c")];
    // The id belongs to a memory that is not listed: it is taken.
    answer = (call) =>
      call.startsWith("GET /v1/users/nora/memories") ? { status: 200, body: { items: [] } } : undefined;
    const { code, stdout } = await command(["--from", "mem0", written(rows), "--user", "nora"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /Memories: 2 created, 1 failed\.\nNot imported:\n {2}1 × external_id_taken.*\(mem0:1\)/,
    );
    expect((await textsOf("nora")).toSorted()).toEqual(["a", "c", "x"]);
  });

  it("are continued by a second run after a failure in the middle", async () => {
    const rows = Array.from({ length: 250 }, (_, i) => row(`n${i}`, `memory number ${i}`));
    const args = ["--from", "mem0", written(rows), "--user", "olga"];
    let batches = 0;
    answer = (call) =>
      call.endsWith("/batch") && ++batches > 1
        ? { status: 403, body: { error: { code: "memory_quota", message: "full" } } }
        : undefined;
    const failed = await command(args);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("Memories: 100 created.") });
    expect(failed.stderr).toBe(
      "POST /v1/users/olga/memories/batch: memory_quota: full\nThe import is incomplete. Repeat the command to continue it.\n",
    );
    answer = () => undefined;
    expect((await command(args)).stdout).toContain("Memories: 150 created, 100 there already.");
    const texts = await textsOf("olga");
    expect(new Set(texts).size).toBe(250);
  });
});

it("a server that goes away in the middle of an import loses nothing", async () => {
  const args = ["--from", "zep", written(exports.zep.threads), written(exports.zep.graph), "--user", "paul"];
  answer = (call) => (call.includes("/memories") ? "gone" : undefined);
  const failed = await command(args);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain("Threads: 1 created.");
  expect(failed.stderr).toContain("network: ");
  answer = () => undefined;
  const { code, stdout } = await command(args);
  expect(code).toBe(0);
  expect(stdout).toContain("Memories: 5 created.\nThreads: 1 there already.\n");
  // A fact of the past stays one: it is answered for its time alone.
  const facts = await memory.memories.list("paul", { validAt: Date.UTC(2025, 0, 2), kind: ["fact"] });
  expect(facts.items.map(({ text }) => text)).toContain("Alice lives in Porto");
  const before = await stored("paul");
  expect((await command(args)).stdout).toContain("Memories: 5 there already.");
  expect(await stored("paul")).toBe(before);
});

describe("before anything is sent", () => {
  it("a dry run counts, and needs no server", async () => {
    const { code, stdout, stderr } = await command(
      ["--from", "zep", written(exports.zep.graph), "--user", "u", "--dry-run"],
      {},
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toBe(
      [
        "Found for 1 user: 5 memories (3 facts, 1 reflection, 1 episode), 0 threads, 0 messages.",
        "Skipped:",
        "  1 × facts that end before they begin (e4)",
        "  1 × episodes that are messages: import the threads (p1)",
        "Nothing was sent: this was a dry run.",
        "",
      ].join("\n"),
    );
  });

  it("a folder is read for the files that count", async () => {
    const exported = join(folder, "claude");
    mkdirSync(join(exported, "projects"), { recursive: true });
    const put = (name: string, content: unknown) =>
      writeFileSync(join(exported, name), JSON.stringify(content));
    put("conversations.json", exports.claude.conversations);
    put("memories.json", exports.claude.memories);
    put("users.json", [{ uuid: "acct", full_name: "A" }]);
    for (const project of exports.claude.projects) put(`projects/${project.uuid}.json`, project);
    const { stdout } = await command(["--from", "claude", exported, "--user", "u", "--dry-run"], {});
    expect(stdout).toContain("6 memories (3 reflections, 2 facts, 1 procedure), 1 thread, 3 messages.");
    expect(
      (await command(["--from", "chatgpt", join(exported, "projects"), "--dry-run"], {})).stderr,
    ).toContain("holds no file of such an export");
  });

  it("a wrong file is refused", async () => {
    const { code, stderr } = await command([
      "--from",
      "mem0",
      written([{ id: "a", memory: "b" }]),
      written([{ id: "c" }]),
      "--user",
      "u",
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/\.json: \[0\]\.memory: is required: a string\.\n$/);
    expect((await command(["--from", "mem0", join(folder, "none.json"), "--user", "u"])).stderr).toContain(
      "none.json cannot be read",
    );
    expect(sent).toEqual([]);
  });

  it("options are refused that lack something, or say nothing", async () => {
    const file = written(exports.chatgpt);
    const refused: [string[], string][] = [
      [["--from", "letta", file], "--from: 'letta' is none of mem0, zep"],
      [["--from", "mem0"], "Name a file of the export"],
      [["--from", "chatgpt", file], "The export names no users: name one with --user."],
      [["--from", "chatgpt", file, "--user", "*"], "--user is reserved"],
      [["--from", "chatgpt", file, "--user", "u", "--user-field", "x"], "exclude each other"],
      [["--from", "chatgpt", file, "--users", "u"], "Unknown option '--users'"],
    ];
    for (const [args, message] of refused)
      expect(await command(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    const unset = await command(["--from", "chatgpt", file, "--user", "u"], {});
    expect(unset).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--url, or CAIRN_URL, is required"),
    });
    expect(await command(["--from", "zep", "--help"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("--dry-run"),
    });
  });

  it("a wrong token, and a server that is not there, are named", async () => {
    const args = ["--from", "mem0", written(exports.mem0.list)];
    const wrong = await command(args, { CAIRN_URL: url, CAIRN_TOKEN: "x.y" });
    expect(wrong).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^GET \/v1\/users\/alice\/memories: invalid_token/),
    });
    const away = await command(args, {
      CAIRN_URL: `http://127.0.0.1:${await freePort()}`,
      CAIRN_TOKEN: token,
    });
    expect(away).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Cannot connect to http://127.0.0.1"),
    });
  });
});
