// Failures of stores that are no outage: each has a code of its own, and only the one that passes asks for a retry.
import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { RevocationList } from "../../../src/worker/auth/revocation-list.ts";
import type { Revoked } from "../../../src/platform/d1/revocations.ts";
import { codeOfUnexpected } from "../../../src/worker/http/failure.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { Isolate } from "../../../src/platform/isolate.ts";
import { call, newUser, token } from "../../call.ts";
import { control, restore } from "../../doubles/control.ts";
import { realPorts } from "../../doubles/ports.ts";

afterEach(restore);
afterEach(() => void vi.useRealTimers());

describe("a D1 whose migrations are not applied", () => {
  const TABLES = ["token_floor", "deployment"] as const;
  const schema: string[] = [];

  const drop = async (...tables: readonly string[]) => {
    for (const table of tables) {
      const made = await env.DB.prepare("SELECT sql FROM sqlite_schema WHERE name = ?")
        .bind(table)
        .first<string>("sql");
      schema.push(made ?? "");
      await env.DB.prepare(`DROP TABLE ${table}`).run();
    }
  };
  beforeEach(() => void schema.splice(0));
  afterEach(async () => {
    for (const sql of schema) await env.DB.prepare(sql).run();
  });
  /** A new Worker, which has read nothing yet. */
  const fresh = () => {
    const app = createApp((bindings) => realPorts(bindings, new Isolate()));
    return (request: Request | string, init: RequestInit = {}) =>
      Promise.resolve(app.request(request, init, { ...env }));
  };

  it("fails a call with the command to run", async () => {
    await drop("token_floor");
    const headers = { Authorization: `Bearer ${await token("*")}` };
    const answer = await fresh()(`https://cairn.test/v1/users/${newUser()}/kv/key`, { headers });
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({
      error: {
        code: "migrations_not_applied",
        message: expect.stringMatching(/npx wrangler d1 migrations apply DB.+--local.+--remote/),
      },
    });
  });

  it.each(TABLES)("is named by /health, also where only the migration of %s is missing", async (table) => {
    await drop(table);
    const response = await fresh()("/health");
    expect(response.status).toBe(503);
    const { problems } = await response.json<{ problems: string[] }>();
    expect(problems).toEqual([expect.stringContaining("npx wrangler d1 migrations apply DB")]);
  });

  it("fails a memory's write likewise, and stores it once they are applied", async () => {
    const user = newUser();
    const write = (text: string) => call(`/v1/users/${user}/memories`, { json: { text } });
    await env.DB.prepare("ALTER TABLE memories RENAME COLUMN attributes TO not_yet_there").run();
    try {
      expect((await write("waits")).body.error.code).toBe("migrations_not_applied");
      expect((await write("waits too")).body.error.code).toBe("migrations_not_applied");
    } finally {
      await env.DB.prepare("ALTER TABLE memories RENAME COLUMN not_yet_there TO attributes").run();
    }
    expect((await write("goes on")).status).toBe(201);
    const { items } = (await call(`/v1/users/${user}/memories`)).body;
    expect(items.map(({ text }: { text: string }) => text)).toEqual(["goes on", "waits"]);
  });

  it("is told from a D1 that does not answer", async () => {
    const down = {
      ...env,
      DB: { prepare: () => down.DB, bind: () => down.DB, batch: gone, first: gone, all: gone },
    };
    const app = createApp(realPorts);
    const bearer = { Authorization: `Bearer ${await token("*")}` };
    const refused = await app.request("/v1/users/alice/kv", { headers: bearer }, down);
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "2"]);
    const { problems } = await (await app.request("/health", {}, down)).json<{ problems: string[] }>();
    expect(problems).toEqual(["D1 does not answer"]);
  });
});

const gone = () => Promise.reject(new Error("D1_ERROR: the network went away"));

describe("an object that is reset under a call", () => {
  it("is answered 503, so that the caller tries again", async () => {
    const user = newUser();
    const object = env.USER_MEMORY.getByName(await userHash(user));
    control.d1Writes = "hang";
    const writing = call(`/v1/users/${user}/memories`, { json: { text: "under way" } });
    // By polling: a promise that the object resolves would go on in the object, and be reset with it.
    while (!control.hanging) await scheduler.wait(1);
    control.d1Writes = "ok";
    await runInDurableObject(object, (_, state) => state.abort("reset")).catch(() => null);
    const answer = await writing;
    expect([answer.status, answer.body.error.code]).toEqual([503, "storage_unavailable"]);
    expect(answer.headers.get("Retry-After")).toBe("2");
    // Noted before it was reset: the same words again are the same memory.
    expect((await call(`/v1/users/${user}/memories`, { json: { text: "under way" } })).status).toBe(200);
  });

  it.each([
    [{ durableObjectReset: true }, "storage_unavailable"],
    [{ retryable: true }, "storage_unavailable"],
    [{ overloaded: true }, "storage_unavailable"],
    [{ remote: true }, "internal"],
  ])("is known by the marks of the platform's error: %j", (marks, code) => {
    expect(codeOfUnexpected(Object.assign(new Error("it failed"), marks), "id")).toBe(code);
  });
});

describe("a D1 that takes seconds to start", () => {
  const verified = {
    caller: { user: "*", scopes: new Set([]), shared: new Set([]) },
    issuedAt: 1,
    expiresAt: 2,
  };
  const none: Revoked = { minIssuedAt: 0, tokenIds: [] };
  /** A list whose reads the test answers, and the clock. */
  const listOf = () => {
    const reads: ((read: Revoked) => void)[] = [];
    const time = { now: 1_000_000 };
    const inForce = () => new Promise<Revoked>((resolve) => void reads.push(resolve));
    return { reads, time, list: new RevocationList({ revocations: { inForce }, now: () => time.now }) };
  };

  it("holds the first call up instead of refusing it", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { list, reads } = listOf();
    const first = Promise.resolve(list.refusal(verified));
    await vi.advanceTimersByTimeAsync(9_000);
    reads[0]?.(none);
    expect(await first).toBeNull();
  });

  it("holds it up no longer than a write of D1, and a call that has a list to go by for 2 s", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { list, reads, time } = listOf();
    const first = Promise.resolve(list.refusal(verified));
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await first).toMatchObject({ ok: false, code: "storage_unavailable" });
    const second = Promise.resolve(list.refusal(verified));
    reads[1]?.(none);
    expect(await second).toBeNull();
    time.now += 40_000;
    const third = Promise.resolve(list.refusal(verified));
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await third).toBeNull();
    expect(reads).toHaveLength(3);
  });
  it("holds up the calls after one that failed for 2 s, also where there is no list to go by", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { list, reads, time } = listOf();
    const held = async (ms: number) => {
      let answered = false;
      const asked = Promise.resolve(list.refusal(verified)).finally(() => (answered = true));
      time.now += ms;
      await vi.advanceTimersByTimeAsync(ms);
      const inTime = answered;
      await vi.advanceTimersByTimeAsync(10_000);
      expect(await asked).toMatchObject({ ok: false, code: "storage_unavailable" });
      return inTime;
    };
    expect([await held(9_000), await held(2_000), await held(2_000)]).toEqual([false, true, true]);
    // The next one waits as the first did.
    time.now += 10_000;
    expect(await held(9_000)).toBe(false);
    expect(reads).toHaveLength(4);
  });
});

describe("the free plan's rows of a day", () => {
  it.each([
    "D1_ERROR: Exceeded the daily row write limit of the free tier",
    "Exceeded allowed rows written in Durable Objects free tier.",
  ])("have a code of their own, and the time at which they come back: %s", async (message) => {
    control.clockAt = Date.UTC(2040, 0, 1, 22);
    const app = createApp((bindings) => ({
      ...realPorts(bindings, new Isolate()),
      users: {
        list: () => Promise.reject(new Error(message)),
        count: () => Promise.reject(new Error(message)),
      },
    }));
    const headers = { Authorization: `Bearer ${await token("*")}` };
    const answer = await app.request("/v1/users", { headers }, { ...env });
    expect([answer.status, answer.headers.get("Retry-After")]).toEqual([503, String(2 * 3600)]);
    expect(await answer.json()).toMatchObject({ error: { code: "daily_limit" } });
  });
});

describe("an embedder that is a service", () => {
  it("is asked for one word a minute by /health, which says why it fails and since when", async () => {
    control.clockAt = Date.UTC(2040, 0, 1);
    let asked = 0;
    let reason: string | null = "5028: This model is retired";
    const embed = async () => {
      asked++;
      if (reason !== null) throw new Error(reason);
      return [null];
    };
    const embedder = { model: "remote", dimensions: 8, embed };
    const app = createApp((bindings) => ({ ...realPorts(bindings, new Isolate()), embedder }));
    const bound = { ...env };
    const health = async () => (await app.request("/health", {}, bound)).json<Record<string, unknown>>();
    const failing = {
      status: "degraded",
      problems: ["the embedder remote does not embed: the model is retired: name another one"],
      failing: [{ part: "embedder", since: control.clockAt }],
    };
    for (let i = 0; i < 9; i++) {
      expect(await health()).toMatchObject(failing);
      control.clockAt += 6_000;
    }
    expect(asked).toBe(1);
    control.clockAt += 6_000;
    expect(await health()).toMatchObject(failing);
    reason = null;
    control.clockAt += 61_000;
    expect((await health())["status"]).toBe("ok");
    expect(asked).toBe(3);
  });
});
