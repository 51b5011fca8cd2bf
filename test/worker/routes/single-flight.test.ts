// One creator a key: leases, who waits for them, and what ends them.
import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { env, exports } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { shardOf } from "../../../src/domain/ids.ts";
import { LeaseAnswer } from "../../../src/domain/schema/prompt-cache.ts";
import { type Answer, call, newUser, token } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";

afterEach(restore);

const newKey = () => `flight/${crypto.randomUUID()}`;
const at = (key: string, rest = "") => `/v1/cache/${encodeURIComponent(key)}${rest}`;
const lease = (key: string, json: object = { leaseMs: 60_000 }) => call(at(key, "/lease"), { json });
const put = (key: string, json: unknown, query = "") => call(at(key, query), { method: "PUT", json });
const drop = (path: string) => call(path, { method: "DELETE" });
const shardOfKey = async (key: string) =>
  env.PROMPT_CACHE.getByName(`shard-${await shardOf(`*/${key}`, 64)}`);
const soon = (ms = 50) => new Promise((resolve) => setTimeout(resolve, ms));

/** Asks one after another, so that who waits has an order; none of the answers is waited for. */
async function waiters(n: number, key: string, json: object): Promise<Promise<Answer>[]> {
  const asked: Promise<Answer>[] = [];
  for (let i = 0; i < n; i++) {
    asked.push(lease(key, json));
    await soon(20);
  }
  return asked;
}

it("gives the lease to the first who misses, and tells the next when to come back", async () => {
  const key = newKey();
  control.clockAt = clock();
  const first = await lease(key, { leaseMs: 1000 });
  expect(first.status).toBe(200);
  expect(first.body).toEqual({
    status: "lease",
    lease: { id: expect.any(String), expiresAt: control.clockAt + 1000 },
  });
  control.clockAt += 400;
  const second = await lease(key);
  expect(second.body).toEqual({ status: "wait", retryAfterMs: 600 });
  for (const { body } of [first, second]) expect(LeaseAnswer.safeParse(body).success).toBe(true);
});

it("answers a hit with the value as it came in, its version and its expiry", async () => {
  const key = newKey();
  const value = '{"n":12345678901234567890, "s":"\\u00e9"}';
  const written = await call(at(key, "?ttlSeconds=300"), { method: "PUT", raw: value });
  const { text, body } = await lease(key);
  expect(text).toContain(value);
  expect(body).toMatchObject({
    status: "hit",
    version: written.body.version,
    expiresAt: written.body.expiresAt,
  });
  const forEver = newKey();
  await put(forEver, null);
  expect((await lease(forEver)).body).toEqual({ status: "hit", value: null, version: expect.any(String) });
});

it("gives those who wait the value as soon as it is set", async () => {
  const key = newKey();
  const { id } = (await lease(key)).body.lease;
  const waiting = await waiters(3, key, { leaseMs: 1000, waitMs: 30_000 });
  const written = await put(key, { name: "n" }, `?lease=${id}`);
  expect(written.status).toBe(200);
  for (const { body } of await Promise.all(waiting))
    expect(body).toEqual({ status: "hit", value: { name: "n" }, version: written.body.version });
});

it("has one creator among 100 racers, whose value the other 99 get", async () => {
  const key = newKey();
  const tokens = await Promise.all(Array.from({ length: 10 }, () => token("*")));
  const created: string[] = [];
  const race = async (i: number) => {
    const { body } = await call(at(key, "/lease"), {
      json: { leaseMs: 60_000, waitMs: 60_000 },
      token: tokens[i % 10] ?? null,
    });
    if (body.status !== "lease") return body;
    await soon(100);
    created.push(`made by ${i}`);
    return (await put(key, `made by ${i}`, `?lease=${body.lease.id}`)).body;
  };
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => race(i)));
  expect(created).toHaveLength(1);
  const hits = answers.filter(({ status }) => status === "hit");
  expect(hits).toHaveLength(99);
  expect(new Set(hits.map(({ value }) => value))).toEqual(new Set(created));
});

it("makes the first of those who wait the next creator when the lease is released", async () => {
  const key = newKey();
  const { id } = (await lease(key)).body.lease;
  const [first, second] = await waiters(2, key, { leaseMs: 60_000, waitMs: 30_000 });
  expect((await drop(at(key, `/lease?id=${id}`))).status).toBe(204);
  const next = (await first)?.body;
  expect(next.status).toBe("lease");
  expect(next.lease.id).not.toBe(id);
  await put(key, 1, `?lease=${next.lease.id}`);
  expect((await second)?.body).toMatchObject({ status: "hit", value: 1 });
});

it("releases nothing for a lease that is not current, and finds no fault with it", async () => {
  const key = newKey();
  const { id } = (await lease(key)).body.lease;
  expect((await drop(at(key, "/lease?id=another"))).status).toBe(204);
  expect((await lease(key)).body.status).toBe("wait");
  expect((await drop(at(key, `/lease?id=${id}`))).status).toBe(204);
  expect((await drop(at(key, `/lease?id=${id}`))).status).toBe(204);
  expect((await lease(key)).body.status).toBe("lease");
});

it("passes the lease of a creator that died to the first who waits, and to no other", async () => {
  const key = newKey();
  await lease(key, { leaseMs: 300 });
  const [first, second] = await waiters(2, key, { leaseMs: 60_000, waitMs: 600 });
  control.clockAhead += 300;
  expect((await first)?.body.status).toBe("lease");
  control.clockAhead += 300;
  expect((await second)?.body.status).toBe("wait");
});

it("passes on a lease that is shorter than the one before it when its holder died too", async () => {
  const key = newKey();
  const { id } = (await lease(key, { leaseMs: 60_000 })).body.lease;
  const [first] = await waiters(1, key, { leaseMs: 200, waitMs: 30_000 });
  const [second] = await waiters(1, key, { leaseMs: 60_000, waitMs: 5_000 });
  await drop(at(key, `/lease?id=${id}`));
  expect((await first)?.body.status).toBe("lease");
  control.clockAhead += 200;
  // Without a timer for the shorter lease, its own wait would end first, and tell it to come back.
  expect((await second)?.body.status).toBe("lease");
});

it("goes by the clock, not by the timer, when the lease has run out", async () => {
  const key = newKey();
  control.clockAt = clock();
  await lease(key, { leaseMs: 600_000 });
  const [waiting] = await waiters(1, key, { leaseMs: 1000, waitMs: 60_000 });
  control.clockAt += 600_000;
  // Whoever comes next makes the object look at the clock: the lease is the waiter's, who was first.
  expect((await lease(key)).body).toEqual({ status: "wait", retryAfterMs: 1000 });
  expect((await waiting)?.body.status).toBe("lease");
});

it("goes by the clock when the timer fires before its time", async () => {
  const key = newKey();
  control.clockAt = clock();
  await lease(key, { leaseMs: 50 });
  const [waiting] = await waiters(1, key, { leaseMs: 1000, waitMs: 60_000 });
  let told = false;
  void waiting?.then(() => (told = true));
  await soon(200);
  expect(told).toBe(false);
  control.clockAt += 50;
  expect((await waiting)?.body.status).toBe("lease");
});

it("answers a wait that ran out with the time that is left", async () => {
  const key = newKey();
  await lease(key, { leaseMs: 60_000 });
  const asked = lease(key, { leaseMs: 1000, waitMs: 100 });
  // The clock of the tests stands still while nobody reads it, and the timer of a wait goes by the real one.
  await soon();
  control.clockAhead += 100;
  const { body } = await asked;
  expect(body.status).toBe("wait");
  expect(body.retryAfterMs).toBeGreaterThan(50_000);
  expect(body.retryAfterMs).toBeLessThanOrEqual(59_900);
});

it("holds a lease for its time, and not a millisecond longer", async () => {
  const key = newKey();
  control.clockAt = clock();
  await lease(key, { leaseMs: 1000 });
  control.clockAt += 999;
  expect((await lease(key)).body).toEqual({ status: "wait", retryAfterMs: 1 });
  control.clockAt += 1;
  expect((await lease(key)).body.status).toBe("lease");
});

describe("a set with a lease", () => {
  it.each<[string, (key: string, id: string) => Promise<unknown>]>([
    ["was never one", async () => {}],
    ["ran out", async () => (control.clockAhead = 60_001)],
    ["was released", (key, id) => drop(at(key, `/lease?id=${id}`))],
    ["is another's by now", async (key, id) => (await drop(at(key, `/lease?id=${id}`)), lease(key))],
    ["a plain set has made void", (key) => put(key, "theirs")],
    ["was forgotten with its key", (key) => drop(at(key))],
  ])("that %s is refused and changes nothing", async (what, end) => {
    const key = newKey();
    const { id } = (await lease(key)).body.lease;
    await end(key, id);
    const before = await call(at(key));
    const answer = await put(key, "mine", `?lease=${what === "was never one" ? "nonsense" : id}`);
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe("lease_lost");
    const after = await call(at(key));
    expect([after.status, after.body?.error?.code, after.headers.get("ETag")]).toEqual([
      before.status,
      before.body?.error?.code,
      before.headers.get("ETag"),
    ]);
  });

  it("ends it: a second one is refused", async () => {
    const key = newKey();
    const { id } = (await lease(key)).body.lease;
    expect((await put(key, 1, `?lease=${id}`)).status).toBe(200);
    expect((await put(key, 2, `?lease=${id}`)).status).toBe(409);
    expect((await call(at(key))).body).toBe(1);
  });
});

it("takes a plain set while another holds the lease, and gives it to those who wait", async () => {
  const key = newKey();
  await lease(key);
  const [waiting] = await waiters(1, key, { leaseMs: 1000, waitMs: 30_000 });
  expect((await put(key, "plain")).status).toBe(200);
  expect((await waiting)?.body).toMatchObject({ status: "hit", value: "plain" });
});

it("releases the lease when the key is forgotten", async () => {
  const key = newKey();
  await lease(key);
  const [waiting] = await waiters(1, key, { leaseMs: 1000, waitMs: 30_000 });
  await drop(at(key));
  expect((await waiting)?.body.status).toBe("lease");
});

it("keeps the lease when one version is dropped", async () => {
  const key = newKey();
  await lease(key);
  await drop(at(key, "?version=old"));
  expect((await lease(key)).body.status).toBe("wait");
});

it("keeps a lease through an eviction", async () => {
  const key = newKey();
  const { id } = (await lease(key)).body.lease;
  await evictDurableObject(await shardOfKey(key));
  expect((await lease(key)).body.status).toBe("wait");
  const [waiting] = await waiters(1, key, { leaseMs: 1000, waitMs: 30_000 });
  expect((await put(key, "kept", `?lease=${id}`)).status).toBe(200);
  expect((await waiting)?.body).toMatchObject({ status: "hit", value: "kept" });
});

it("does not hand the lease to a waiter whose client went away", async () => {
  const key = newKey();
  const { id } = (await lease(key)).body.lease;
  const client = new AbortController();
  const gone = exports.default.fetch(`https://cairn.test${at(key, "/lease")}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${await token("*")}`, "Content-Type": "application/json" },
    body: JSON.stringify({ leaseMs: 60_000, waitMs: 60_000 }),
    signal: client.signal,
  });
  const failed = gone.then(
    () => "answered",
    () => "aborted",
  );
  await soon(100);
  const [patient] = await waiters(1, key, { leaseMs: 1000, waitMs: 30_000 });
  client.abort();
  expect(await failed).toBe("aborted");
  await soon(200);
  await drop(at(key, `/lease?id=${id}`));
  expect((await patient)?.body.status).toBe("lease");
});

it("still reaches the others when the one who went away was to be next in time", async () => {
  const key = newKey();
  const shard = await shardOfKey(key);
  const answers = await runInDurableObject(shard, async (object) => {
    const request = { key: `*/${key}`, leaseMs: 60_000, waitMs: 30_000 };
    const first = object.lease({ ...request, leaseMs: 200 });
    const [leaver, stayer] = [object.lease(request), object.lease(request)];
    if (leaver.status !== "held" || stayer.status !== "held") throw new Error("nobody is held");
    leaver.hold[Symbol.dispose]();
    control.clockAhead += 200;
    return [first.status, (await stayer.answer()).status];
  });
  expect(answers).toEqual(["lease", "lease"]);
});

describe("GET with lease and wait", () => {
  it("answers a hit with the value", async () => {
    const key = newKey();
    await put(key, { a: 1 });
    const answer = await call(at(key, "?lease=1000&wait=1000"));
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ a: 1 });
    expect(answer.headers.get("ETag")).toMatch(/^"[0-9a-f-]{36}"$/);
  });

  it("answers a miss with 404 and the lease in its headers", async () => {
    const key = newKey();
    control.clockAt = clock();
    const answer = await call(at(key, "?lease=5000"));
    expect(answer.status).toBe(404);
    expect(answer.body.error.code).toBe("not_found");
    expect(answer.headers.get("Cairn-Lease-Expires")).toBe(String(control.clockAt + 5000));
    const id = answer.headers.get("Cairn-Lease");
    expect((await put(key, 1, `?lease=${id}`)).status).toBe(200);
  });

  it("answers 409 and when to come back while another creates", async () => {
    const key = newKey();
    control.clockAt = clock();
    await lease(key, { leaseMs: 4001 });
    const answer = await call(at(key, "?lease=5000"));
    expect(answer.status).toBe(409);
    expect(answer.body.error.code).toBe("lease_held");
    expect(answer.headers.get("Retry-After")).toBe("5");
    expect(answer.headers.get("Cairn-Lease")).toBeNull();
  });

  it("is held until the value is set", async () => {
    const key = newKey();
    const { id } = (await lease(key)).body.lease;
    const waiting = call(at(key, "?lease=5000&wait=30000"));
    await soon();
    await put(key, "there", `?lease=${id}`);
    expect((await waiting).body).toBe("there");
  });

  it("without lease takes none", async () => {
    const key = newKey();
    const answer = await call(at(key));
    expect(answer.status).toBe(404);
    expect(answer.headers.get("Cairn-Lease")).toBeNull();
    expect((await lease(key)).body.status).toBe("lease");
  });

  it("refuses to wait without a lease", async () => {
    const answer = await call(at(newKey(), "?wait=1000"));
    expect(answer.status).toBe(400);
    expect(answer.body.error.details).toEqual([{ path: "query.wait", message: "goes with `lease`" }]);
  });
});

it.each([
  ["leaseMs", {}],
  ["leaseMs", { leaseMs: 0 }],
  ["leaseMs", { leaseMs: 1.5 }],
  ["leaseMs", { leaseMs: "1000" }],
  ["waitMs", { leaseMs: 1, waitMs: -1 }],
  ["waitMs", { leaseMs: 1, waitMs: null }],
])("refuses a lease with a wrong %s: %o", async (field, json) => {
  const answer = await lease(newKey(), json);
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0].path).toBe(`body.${field}`);
});

it("refuses to release a lease without its id", async () => {
  const answer = await drop(at(newKey(), "/lease"));
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0].path).toBe("query.id");
});

it("keeps one user's leases from another's", async () => {
  const key = newKey();
  const [alice, bob] = [await token(newUser()), await token(newUser())];
  for (const bearer of [alice, bob]) {
    const { body } = await call(at(key, "/lease"), { json: { leaseMs: 1000 }, token: bearer });
    expect(body.status).toBe("lease");
  }
});
