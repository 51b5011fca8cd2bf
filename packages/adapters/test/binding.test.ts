// Two Workers that call one Cairn over service bindings, each in a runtime of its own, as they are deployed.
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import type { Step } from "./binding/step.ts";
import { newUser } from "./cairn.ts";
import { localConfig } from "../../dev/local-config.ts";

const here = join(import.meta.dirname, "binding");

let harness: TestHarness;

beforeAll(async () => {
  harness = createTestHarness({
    workers: [
      { configPath: join(here, "one.toml") },
      { configPath: join(here, "two.toml") },
      {
        configPath: localConfig(mkdtempSync(join(tmpdir(), "cairn-config-"))),
        secrets: { CAIRN_SECRET: randomBytes(32).toString("base64url") },
      },
    ],
  });
  await harness.listen();
  await harness.getWorker("cairn").applyD1Migrations("DB");
});

afterAll(() => harness.close());

type Outcome = {
  value?: unknown;
  thrown?: string;
  error?: { code: string; status: number; details: unknown[]; message: string };
};

const stepOf =
  (worker: "one" | "two", binding: Step["binding"] = "MEMORY") =>
  async (method: string, ...args: unknown[]): Promise<Outcome> => {
    const body = JSON.stringify({ binding, method, args } satisfies Step);
    const answer = await harness.getWorker(worker).fetch("/", { method: "POST", body });
    return (await answer.json()) as Outcome;
  };

const [one, two] = [stepOf("one"), stepOf("two")];

it("shares entries, with their versions", async () => {
  const user = newUser();
  const { value } = await one("memory.kv.set", user, "a/b", { step: 1 });
  expect((await two("memory.kv.getVersioned", user, "a/b")).value).toEqual({
    value: { step: 1 },
    version: (value as { version: string }).version,
  });
  const late = await two("memory.kv.set", user, "a/b", 2, { ifVersion: "another" });
  expect(late.error).toMatchObject({ code: "precondition_failed", status: 412 });
});

it("lets one of both create a value, and the other wait for it", async () => {
  const key = newUser();
  const mine = (await one("memory.cache.lease", key, { leaseMs: 60_000 })).value as {
    status: string;
    lease: { id: string };
  };
  expect(mine.status).toBe("lease");
  const theirs = two("memory.cache.lease", key, { leaseMs: 60_000, waitMs: 60_000 });
  await one("memory.cache.set", key, "made", { lease: mine.lease.id });
  expect((await theirs).value).toMatchObject({ status: "hit", value: "made" });
});

it("holds a miss of the cache's adapter until the other Worker has set the value", async () => {
  const key = `gemstack:ai:google-cache:${newUser()}`;
  expect((await one("cache.get", key)).value).toBeNull();
  const waiting = two("cache.get", key);
  await one("cache.set", key, { name: "cachedContents/1" }, 60);
  expect((await waiting).value).toEqual({ name: "cachedContents/1" });
});

it("continues a conversation of the other Worker's store", async () => {
  const user = newUser();
  const id = (await one("conversations.create", "Trip", { userId: user })).value as string;
  const messages = [{ role: "user", content: "Where to?" }];
  await one("conversations.append", id, messages);
  await two("conversations.append", id, [{ role: "assistant", content: "Lisbon" }]);
  expect((await one("conversations.load", id)).value).toEqual([
    ...messages,
    { role: "assistant", content: "Lisbon" },
  ]);
  expect((await two("conversations.list", user)).value).toMatchObject([{ id, title: "Trip" }]);
});

it("gives both the same context of what one remembered", async () => {
  const user = newUser();
  await one("memory.memories.remember", user, { text: "I moved to Lisbon" });
  const query = { query: "where do I live?" };
  const [first, second] = [
    await one("memory.context", user, query),
    await two("memory.context", user, query),
  ];
  expect(JSON.stringify(first.value)).toContain("I moved to Lisbon");
  const text = ({ value }: Outcome) => (value as { recalled: { text: string } }).recalled.text;
  expect(text(second)).toBe(text(first));
});

it("streams an export", async () => {
  const user = newUser();
  await one("memory.kv.set", user, "k", "x".repeat(200_000));
  const { value } = await two("memory.transfer.export", user);
  expect(String(value).trimEnd().split("\n").at(-1)).toContain('"end"');
});

it("keeps a Worker whose props name one user to that user", async () => {
  const alice = stepOf("two", "OF_ALICE");
  await one("memory.kv.set", "alice", "k", "hers");
  await one("memory.kv.set", "bob", "k", "his");
  expect((await alice("memory.kv.get", "alice", "k")).value).toBe("hers");
  expect((await alice("memory.kv.set", "bob", "k", 1)).error).toMatchObject({ code: "not_found" });
  expect((await alice("memory.recall", "bob", { query: "x" })).error).toMatchObject({
    code: "not_found",
    message: expect.stringContaining('this binding is of the user "alice"'),
  });
  expect((await alice("memory.threads.listAll")).error).toMatchObject({ code: "forbidden", status: 403 });
});

it("answers the methods of the binding, each in one call, and their errors as data", async () => {
  const user = newUser();
  const written = await one("env.MEMORY.memories.remember", user, { text: "I moved to Lisbon" });
  expect(written.value).toMatchObject({ ok: true, value: { text: "I moved to Lisbon" } });
  const query = { query: "where do I live?" };
  expect((await two("env.MEMORY.recall", user, query)).value).toMatchObject({
    ok: true,
    value: { hits: [{ text: "I moved to Lisbon" }] },
  });
  expect((await two("env.OF_ALICE.recall", user, query)).value).toMatchObject({
    ok: false,
    error: { code: "not_found", message: expect.stringContaining('of the user "alice"') },
  });
});

it.each([
  "env",
  "ctx",
  "later",
  "within",
  "fetch",
  "scheduled",
  "memories.answer",
  "memories.calls",
  "memories.dup",
  "memories.remember.call",
])("reaches nothing of Cairn under another name: %s", async (name) => {
  const { value, thrown } = await one(`env.MEMORY.${name}`, "alice", { text: "x" });
  expect([value, thrown]).toEqual([undefined, expect.any(String)]);
});

it("says which fields are wrong, and which entrypoint a binding lacks", async () => {
  expect((await one("memory.recall", newUser(), { query: "" })).error).toMatchObject({
    code: "invalid_request",
    details: [{ path: "body.query", message: "must not be empty" }],
  });
  expect((await stepOf("one", "WRONG")("memory.kv.get", "alice", "k")).error).toMatchObject({
    code: "no_envelope",
    message: expect.stringContaining('`entrypoint = "Memory"`'),
  });
});
