import { runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import * as fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { createApp } from "../../src/worker/app.ts";
import { userHash } from "../../src/domain/ids.ts";
import type { Quotas } from "../../src/platform/quotas.ts";
import { type Answer, call, newUser } from "../call.ts";
import { control, restore } from "../doubles/control.ts";
import { forget, forgetAll, forgetWhere, patch, remember, rememberMany } from "../memory-calls.ts";
import { append, create, fork, say } from "../thread-calls.ts";
import { realPorts } from "../doubles/ports.ts";

afterEach(restore);

const NONE: Quotas = { entries: null, memories: null, threads: null, bytes: null };
const quota = (quotas: Partial<Quotas>): void => void (control.quotas = { ...NONE, ...quotas });
const at = (user: string, key: string) => `/v1/users/${user}/kv/${key}`;
const put = (user: string, key: string, value: unknown = 1, query = ""): Promise<Answer> =>
  call(`${at(user, key)}${query}`, { method: "PUT", json: value });
const batch = (user: string, ...operations: object[]): Promise<Answer> =>
  call(`/v1/users/${user}/kv/batch`, { json: { operations } });
const keys = async (user: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/kv`)).body.items.map(({ key }: { key: string }) => key);
const codeOf = ({ body, status }: Answer): string | number => body?.error?.code ?? status;

describe("QUOTA_ENTRIES", () => {
  it("lets a user hold so many and no more, change them, and take another when one is gone", async () => {
    quota({ entries: 2 });
    const user = newUser();
    expect([codeOf(await put(user, "a")), codeOf(await put(user, "b"))]).toEqual([200, 200]);
    const over = await put(user, "c");
    expect(over.status).toBe(403);
    expect(over.body.error).toMatchObject({
      code: "quota_entries",
      message: expect.stringContaining("2 entries"),
    });
    expect(await keys(user)).toEqual(["a", "b"]);
    expect(codeOf(await put(user, "a", "changed"))).toBe(200);
    await call(at(user, "b"), { method: "DELETE" });
    expect(codeOf(await put(user, "c"))).toBe(200);
  });

  it("holds for a batch as a whole: what it deletes makes room, and one that is over does nothing", async () => {
    quota({ entries: 2 });
    const user = newUser();
    await put(user, "a");
    const set = (key: string) => ({ op: "set", key, value: 1 });
    expect(codeOf(await batch(user, set("b"), set("c")))).toBe("quota_entries");
    expect(await keys(user)).toEqual(["a"]);
    expect(codeOf(await batch(user, set("b"), set("c"), { op: "delete", key: "a" }))).toBe(200);
    expect(await keys(user)).toEqual(["b", "c"]);
  });

  it("does not count what has expired", async () => {
    quota({ entries: 1 });
    const user = newUser();
    await put(user, "a", 1, "?ttlMs=1000");
    expect(codeOf(await put(user, "b"))).toBe("quota_entries");
    control.clockAhead = 2000;
    expect(codeOf(await put(user, "b"))).toBe(200);
  });

  it("lets what is over a quota that was lowered be read, changed and deleted", async () => {
    const user = newUser();
    for (const key of ["a", "b", "c"]) await put(user, key);
    quota({ entries: 1, bytes: 0 });
    expect(codeOf(await call(at(user, "a")))).toBe(200);
    expect(codeOf(await put(user, "a", 2))).toBe(200);
    expect(codeOf(await batch(user, { op: "delete", key: "a" }))).toBe(200);
    expect(codeOf(await call(`/v1/users/${user}/kv?prefix=`, { method: "DELETE" }))).toBe(200);
    expect(await keys(user)).toEqual([]);
  });

  it("counts right over any history of sets, deletes, batches and expiries", async () => {
    const key = fc.constantFrom("a", "b", "c", "d");
    const step = fc.oneof(
      fc.record({ do: fc.constant("set" as const), key, ttl: fc.boolean() }),
      fc.record({ do: fc.constant("delete" as const), key }),
      fc.record({ do: fc.constant("prefix" as const) }),
      fc.record({ do: fc.constant("later" as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        quota({ entries: 2 });
        const user = newUser();
        const model = new Map<string, boolean>();
        const told: (string | number)[][] = [];
        for (const one of steps) {
          if (one.do === "set") {
            const fits = model.has(one.key) || model.size < 2;
            const answer = await put(user, one.key, 1, one.ttl ? "?ttlMs=1000" : "");
            told.push([codeOf(answer), fits ? 200 : "quota_entries"]);
            if (fits) model.set(one.key, one.ttl);
          } else if (one.do === "delete") {
            await call(at(user, one.key), { method: "DELETE" });
            model.delete(one.key);
          } else if (one.do === "prefix") {
            await call(`/v1/users/${user}/kv?prefix=`, { method: "DELETE" });
            model.clear();
          } else {
            control.clockAhead += 2000;
            for (const [held, expires] of model) if (expires) model.delete(held);
          }
        }
        expect(told.map(([code]) => code)).toEqual(told.map(([, expected]) => expected));
        expect(await keys(user)).toEqual([...model.keys()].toSorted());
      }),
      { numRuns: 15 },
    );
  });
});

describe("QUOTA_MEMORIES", () => {
  it("counts memories, not their versions, and what one call adds as a whole", async () => {
    quota({ memories: 2 });
    const user = newUser();
    const first = (await remember(user, { key: "city", text: "lives in Lisbon" })).body;
    expect(codeOf(await remember(user, { key: "city", text: "lives in Porto" }))).toBeLessThan(300);
    expect(codeOf(await patch(user, first.id, { text: "lives in Oporto" }))).toBe(200);
    expect(codeOf(await rememberMany(user, [{ text: "one" }, { text: "two" }]))).toBe("quota_memories");
    expect(codeOf(await rememberMany(user, [{ text: "one" }, { text: "one" }]))).toBe(200);
    const over = await remember(user, { text: "three" });
    expect(over.status).toBe(403);
    expect(over.body.error.code).toBe("quota_memories");
    // A repeated write adds nothing.
    expect(codeOf(await remember(user, { text: "one", tags: ["again"] }))).toBe(200);
  });

  it("lets a user forget, and remember as much again", async () => {
    quota({ memories: 1 });
    const user = newUser();
    const forgets = [
      (id: string) => forget(user, id),
      () => forgetWhere(user, { kinds: ["fact"] }),
      () => forgetAll(user),
    ];
    for (const [i, gone] of forgets.entries()) {
      const { body, status } = await remember(user, { text: `memory ${i}` });
      expect(status).toBe(201);
      expect((await gone(body.id)).status).toBeLessThan(300);
    }
    expect((await remember(user, { text: "the last" })).status).toBe(201);
  });
});

describe("QUOTA_THREADS", () => {
  it("holds for threads that are begun, resumed and forked, and counts none that was deleted", async () => {
    quota({ threads: 2 });
    const user = newUser();
    const origin = await create(user);
    await append(origin.id, [say("hi")]);
    const second = (await fork(origin.id)).body;
    const begin = () => call(`/v1/users/${user}/threads`, { json: {} });
    const resume = () => call(`/v1/users/${user}/threads/resume`, { json: { agent: "planner" } });
    for (const asked of [begin, resume, () => fork(origin.id)])
      expect(codeOf(await asked())).toBe("quota_threads");
    // A thread that is there can still be read, appended to and deleted, also where its fork lives on.
    expect(codeOf(await call(`/v1/users/${user}/threads/resume`, { json: {} }))).toBe(200);
    expect(codeOf(await append(second.id, [say("more")]))).toBe(201);
    expect((await call(`/v1/threads/${origin.id}`, { method: "DELETE" })).status).toBe(204);
    expect(codeOf(await resume())).toBe(201);
    expect(codeOf(await begin())).toBe("quota_threads");
  });

  it("refuses another thread to a user who has many more than a lowered quota", async () => {
    const user = newUser();
    for (let i = 0; i < 5; i++) await create(user);
    quota({ threads: 1 });
    expect(codeOf(await call(`/v1/users/${user}/threads`, { json: {} }))).toBe("quota_threads");
  });
});

describe("QUOTA_BYTES", () => {
  const sizeOf = async (user: string): Promise<number> =>
    runInDurableObject(
      env.USER_MEMORY.getByName(await userHash(user)),
      (_, { storage }) => storage.sql.databaseSize,
    );
  const big = "x".repeat(200_000);

  it("refuses what would take a user over it, of every kind, and leaves nothing of it", async () => {
    const user = newUser();
    const { id } = await create(user);
    const held = await sizeOf(user);
    quota({ bytes: held + 100_000 });
    const writes = [
      () => put(user, "k", big),
      () => batch(user, { op: "set", key: "k", value: big }),
      () => append(id, [say(big)]),
    ];
    for (const write of writes) {
      const answer = await write();
      expect(answer.status).toBe(403);
      expect(answer.body.error.code).toBe("quota_bytes");
    }
    expect(await sizeOf(user)).toBeLessThan(held + 20_000);
    expect(await keys(user)).toEqual([]);
    expect((await call(`/v1/threads/${id}`)).body.length).toBe(0);
    expect(codeOf(await put(user, "k", "small"))).toBe(200);
  });

  it("refuses what would be added when it is reached, and lets everything be read and deleted", async () => {
    const user = newUser();
    const { id } = await create(user);
    await append(id, [say("hi")]);
    await put(user, "k", big);
    const memory = (await remember(user, { text: "here already" })).body;
    quota({ bytes: 1 });
    for (const write of [
      () => put(user, "other", 1, ""),
      () => remember(user, { text: "new" }),
      () => append(id, [say(big)]),
      () => call(`/v1/users/${user}/threads`, { json: { title: big.slice(0, 1000) } }),
    ])
      expect([200, 201, "quota_bytes"]).toContain(codeOf(await write()));
    expect(codeOf(await remember(user, { text: "new" }))).toBe("quota_bytes");
    expect(codeOf(await append(id, [say(big)]))).toBe("quota_bytes");
    expect(codeOf(await call(at(user, "k")))).toBe(200);
    expect((await call(`/v1/users/${user}/recall`, { json: { query: "here" } })).body.hits).not.toEqual([]);
    expect((await call(`/v1/threads/${id}/messages/1`, { method: "DELETE" })).status).toBe(204);
    expect((await forget(user, memory.id)).status).toBe(204);
    expect((await call(`/v1/threads/${id}`, { method: "DELETE" })).status).toBe(204);
    expect((await call(at(user, "k"), { method: "DELETE" })).status).toBe(204);
  });

  it("is not got round by corrections, each of which is kept, and lets what adds nothing through", async () => {
    const user = newUser();
    const { id, version } = (await remember(user, { text: "first" })).body;
    const waiting = (await remember(user, { text: "to be reviewed", status: "quarantined" })).body;
    quota({ bytes: 1 });
    expect(codeOf(await patch(user, id, { text: "second" }))).toBe("quota_bytes");
    expect(codeOf(await patch(user, id, { text: "first" }))).toBe(200);
    const of = (one: string, what: string) => `/v1/users/${user}/memories/${one}/${what}`;
    expect(codeOf(await call(of(waiting.id, "release"), { method: "POST" }))).toBe("quota_bytes");
    quota({});
    expect(codeOf(await patch(user, id, { text: "second" }))).toBe(200);
    quota({ bytes: 1 });
    expect(codeOf(await call(of(id, "restore"), { json: { version } }))).toBe("quota_bytes");
    expect((await forget(user, id)).status).toBe(204);
  });

  it("gives back what was deleted", async () => {
    const user = newUser();
    await put(user, "k", big);
    const held = await sizeOf(user);
    quota({ bytes: held + 50_000 });
    expect(codeOf(await put(user, "other", big))).toBe("quota_bytes");
    await call(at(user, "k"), { method: "DELETE" });
    expect(codeOf(await put(user, "other", big))).toBe(200);
  });
});

it("does not give a refused write's answer to its retry, once there is room", async () => {
  quota({ threads: 0 });
  const user = newUser();
  const begin = () => call(`/v1/users/${user}/threads`, { json: {}, headers: { "Idempotency-Key": "once" } });
  expect(codeOf(await begin())).toBe("quota_threads");
  quota({ threads: 1 });
  expect(codeOf(await begin())).toBe(201);
});

it("counts one user's apart from another's", async () => {
  quota({ entries: 1 });
  for (const user of [newUser(), newUser()]) expect(codeOf(await put(user, "a"))).toBe(200);
});

it.each(["QUOTA_ENTRIES", "QUOTA_MEMORIES", "QUOTA_THREADS", "QUOTA_BYTES"])(
  "says at /health that %s is no number",
  async (name) => {
    const answer = await createApp(realPorts).request("/health", {}, { ...env, [name]: "many" });
    expect(await answer.json()).toMatchObject({
      status: "degraded",
      problems: [expect.stringContaining(name)],
    });
  },
);
