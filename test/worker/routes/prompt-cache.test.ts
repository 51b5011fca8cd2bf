// Advice on a prompt's caching by its provider, and the savings of the caches.
import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { ResolveAnswer, Stats } from "../../../src/domain/schema/prompt-cache.ts";
import { type Answer, call as callNow, newUser, pages, token as tokenFor } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import { forget, remembered } from "../../memory-calls.ts";
import { create } from "../../thread-calls.ts";

afterEach(restore);

// The clock is turned by months here: the tokens last.
const token = (user: string) => tokenFor(user, ["cache"], 10 * 365 * 24 * 3600);
const call = async (path: string, more: object = {}) => callNow(path, { token: await token("*"), ...more });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = 1_800_000_000_000;
const resolve = (json: object, more: object = {}) => call("/v1/prompt-cache/resolve", { json, ...more });
const fresh = (): { provider: string; model: string; regions: unknown[] } => ({
  provider: "google",
  model: "gemini-2.5-pro",
  regions: [`system ${crypto.randomUUID()}`, { tools: [] }],
});
const put = (key: string, query: string, json: unknown): Promise<Answer> =>
  call(`/v1/cache/${encodeURIComponent(key)}${query}`, { method: "PUT", json });

describe("google", () => {
  it("has one create the resource, and gives it to the others", async () => {
    control.clockAt = NOW;
    const prompt = fresh();
    const mine = (await resolve({ ...prompt, ttl: "30m", leaseMs: 5000 })).body;
    expect(mine).toEqual({
      status: "create",
      key: expect.stringContaining("prompt-cache:google:gemini-2.5-pro:"),
      lease: { id: expect.any(String), expiresAt: NOW + 5000 },
      ttlSeconds: 1800,
    });
    expect((await resolve(prompt)).body).toEqual({ status: "wait", key: mine.key, retryAfterMs: 5000 });
    const waiting = resolve({ ...prompt, waitMs: 30_000 });
    await new Promise((done) => setTimeout(done, 50));
    const resource = { name: "cachedContents/1", expiresAt: NOW + 30 * MINUTE };
    const written = await put(mine.key, `?lease=${mine.lease.id}&ttlSeconds=1800`, resource);
    const hit = { status: "hit", key: mine.key, version: written.body.version, ...resource };
    expect((await waiting).body).toEqual(hit);
    expect((await resolve(prompt)).body).toEqual(hit);
    for (const body of [mine, hit]) expect(ResolveAnswer.safeParse(body).success).toBe(true);
  });

  it("leases for a minute unless told otherwise", async () => {
    control.clockAt = NOW;
    expect((await resolve(fresh())).body.lease.expiresAt).toBe(NOW + MINUTE);
  });

  it("has a resource created anew that ends within 30 s, while the old one is still there", async () => {
    control.clockAt = NOW;
    const prompt = fresh();
    const { key } = (await resolve(prompt)).body;
    await put(key, "", { name: "old", expiresAt: NOW + 30_001 });
    expect((await resolve(prompt)).body.status).toBe("hit");
    control.clockAt += 1;
    const again = (await resolve(prompt)).body;
    expect(again.status).toBe("create");
    await put(key, `?lease=${again.lease.id}`, { name: "new", expiresAt: NOW + HOUR });
    expect((await resolve(prompt)).body).toMatchObject({ status: "hit", name: "new" });
  });

  it("goes on with the next creator when what was set cannot be used", async () => {
    const prompt = fresh();
    const { key } = (await resolve(prompt)).body;
    const waiting = resolve({ ...prompt, waitMs: 30_000 });
    await new Promise((done) => setTimeout(done, 50));
    await put(key, "", "no resource");
    expect((await waiting).body.status).toBe("create");
  });

  it("makes one key of the same content, in whatever order its keys are, and another of any other", async () => {
    const [a, b] = [
      { x: 1, y: { z: 2, w: 3 } },
      { y: { w: 3, z: 2 }, x: 1 },
    ];
    const keyOf = async (more: object) =>
      (await resolve({ ...fresh(), regions: [a, "text"], ...more })).body.key;
    const key = await keyOf({});
    expect(await keyOf({ regions: [b, "text"] })).toBe(key);
    expect(await keyOf({ regions: ["text", a] })).not.toBe(key);
    expect(await keyOf({ model: "gemini-2.5-flash" })).not.toBe(key);
  });

  it("has a resource created anew only if the stable block of a context changed", async () => {
    const user = newUser();
    const { id: threadId } = await create(user);
    const fact = await remembered(user, { subject: "user", predicate: "lives in", object: "Porto" });
    const model = crypto.randomUUID();
    const turn = async (query: string) => {
      const { body } = await callNow(`/v1/users/${user}/context`, { json: { query, threadId } });
      const regions = ["You are a guide.", { context: body.stable.etag }];
      return { told: body.recalled.text, ...(await resolve({ provider: "google", model, regions })).body };
    };
    const first = await turn("hello");
    const resource = { name: "cachedContents/1", expiresAt: clock() + HOUR };
    await put(first.key, `?lease=${first.lease.id}&ttlSeconds=3600`, resource);
    await remembered(user, { text: "I eat no fish" });
    const second = await turn("thanks!");
    expect(second).toMatchObject({ status: "hit", key: first.key, name: resource.name });
    expect(second.told).toContain("I eat no fish");
    await forget(user, fact.id);
    const third = await turn("thanks again!");
    expect(third.status).toBe("create");
    expect(third.key).not.toBe(first.key);
  });

  it("takes the caller's own hash in the place of the regions", async () => {
    const hash = "0123456789abcdef".repeat(4);
    const { key } = (await resolve({ provider: "google", model: "m", hash })).body;
    expect(key).toBe(`prompt-cache:google:m:${hash}`);
  });

  it("remembers for five minutes what is too small by the caller's count", async () => {
    control.clockAt = NOW;
    const prompt = fresh();
    const small = { status: "too-small", expiresAt: NOW + 5 * MINUTE };
    expect((await resolve({ ...prompt, tokens: 1023, minTokens: 1024 })).body).toEqual(small);
    control.clockAt += 5 * MINUTE - 1;
    expect((await resolve(prompt)).body).toEqual(small);
    control.clockAt += 2;
    expect((await resolve(prompt)).body.status).toBe("create");
  });

  it("believes whoever found out that it is too small, and tells those who wait", async () => {
    control.clockAt = NOW;
    const prompt = fresh();
    const { key, lease } = (await resolve(prompt)).body;
    const waiting = resolve({ ...prompt, waitMs: 30_000 });
    await new Promise((done) => setTimeout(done, 50));
    await put(key, `?lease=${lease.id}`, { tooSmall: true, expiresAt: NOW + 1000 });
    expect((await waiting).body).toEqual({ status: "too-small", expiresAt: NOW + 1000 });
  });

  it("believes a resource that is there more than a count, and ends nobody's flight by one", async () => {
    const prompt = fresh();
    const counted = { ...prompt, tokens: 1, minTokens: 2 };
    const { key, lease } = (await resolve(prompt)).body;
    expect((await resolve(counted)).body.status).toBe("too-small");
    const resource = { name: "n", expiresAt: clock() + HOUR };
    expect((await put(key, `?lease=${lease.id}`, resource)).status).toBe(200);
    expect((await resolve(counted)).body.status).toBe("hit");
  });

  it("has one creator among 100 racers, whose resource the other 99 get", async () => {
    const prompt = fresh();
    const resource = { name: "cachedContents/raced", expiresAt: clock() + HOUR };
    let created = 0;
    const race = async () => {
      const { body } = await resolve({ ...prompt, waitMs: 60_000 });
      if (body.status !== "create") return body;
      created++;
      return put(body.key, `?lease=${body.lease.id}&ttlSeconds=3600`, resource);
    };
    const answers = await Promise.all(Array.from({ length: 100 }, race));
    expect(created).toBe(1);
    expect(answers.filter(({ name }) => name === resource.name)).toHaveLength(99);
  });

  it("keeps namespaces and users apart", async () => {
    const prompt = fresh();
    const apart = [{}, { headers: { "Cairn-Namespace": "a" } }, { token: await token(newUser()) }];
    for (const who of apart) expect((await resolve(prompt, who)).body.status).toBe("create");
    for (const who of apart) expect((await resolve(prompt, who)).body.status).toBe("wait");
  });
});

describe("anthropic", () => {
  const ask = (regions: unknown[], more: object = {}, who: object = {}) =>
    resolve({ provider: "anthropic", model: "claude-sonnet-5", regions, ...more }, who);

  it("tells which prefixes were sent within their lifetime, and counts the call as a use", async () => {
    control.clockAt = NOW;
    const system = crypto.randomUUID();
    const first = (await ask([system, "one"])).body;
    expect(first.status).toBe("stateless");
    expect(first.breakpoints).toEqual([
      { index: 0, prefixHash: expect.any(String), likelyWarm: false },
      { index: 1, prefixHash: expect.any(String), likelyWarm: false },
    ]);
    control.clockAt += 4 * MINUTE;
    const second = (await ask([system, "two"])).body.breakpoints;
    expect(second[0]).toEqual({
      index: 0,
      prefixHash: first.breakpoints[0].prefixHash,
      likelyWarm: true,
      lastUsedAt: NOW,
      expiresAt: NOW + 5 * MINUTE,
    });
    expect(second[1].likelyWarm).toBe(false);
    expect(second[1].prefixHash).not.toBe(first.breakpoints[1].prefixHash);
    control.clockAt += 4 * MINUTE;
    const third = (await ask([system, "one"])).body.breakpoints;
    expect(third.map((one: { likelyWarm: boolean }) => one.likelyWarm)).toEqual([true, false]);
  });

  it("keeps an hour what was asked for an hour", async () => {
    control.clockAt = NOW;
    const regions = [crypto.randomUUID()];
    await ask(regions, { ttl: "1h" });
    control.clockAt += 59 * MINUTE;
    expect((await ask(regions)).body.breakpoints[0].likelyWarm).toBe(true);
  });

  it("takes the caller's own hash for one prefix", async () => {
    const own = { provider: "anthropic", model: "m", hash: crypto.randomUUID() };
    await resolve(own);
    expect((await resolve(own)).body.breakpoints).toMatchObject([
      { index: 0, prefixHash: own.hash, likelyWarm: true },
    ]);
  });

  it("keeps ledgers of models, namespaces and users apart", async () => {
    const regions = [crypto.randomUUID()];
    await ask(regions);
    const others = [
      await ask(regions, { model: "another" }),
      await ask(regions, {}, { headers: { "Cairn-Namespace": "a" } }),
      await ask(regions, {}, { token: await token(newUser()) }),
    ];
    for (const { body } of others) expect(body.breakpoints[0].likelyWarm).toBe(false);
  });

  it("takes 1,000 regions", async () => {
    const regions = Array.from({ length: 1000 }, (_, i) => `${i} ${crypto.randomUUID()}`);
    expect((await ask(regions)).body.breakpoints).toHaveLength(1000);
  });
});

describe("openai", () => {
  it("gives a key that is the same for the same namespace, model and content", async () => {
    const prompt = { ...fresh(), provider: "openai", model: "gpt-5" };
    const { body } = await resolve(prompt);
    expect(body).toEqual({ status: "stateless", promptCacheKey: expect.stringMatching(/^[\w-]{1,64}$/) });
    expect((await resolve(prompt)).body).toEqual(body);
    expect((await resolve({ ...prompt, model: "gpt-4o" })).body).not.toEqual(body);
    expect((await resolve(prompt, { headers: { "Cairn-Namespace": "a" } })).body).not.toEqual(body);
  });
});

it.each(["anthropic", "openai"])(
  "%s is told too small without being asked to remember it",
  async (provider) => {
    const prompt = { ...fresh(), provider };
    expect((await resolve({ ...prompt, tokens: 1, minTokens: 2 })).body).toEqual({ status: "too-small" });
    expect((await resolve(prompt)).body.status).toBe("stateless");
  },
);

it("takes a region with more than an etag for any JSON", async () => {
  const regions = [{ context: null, contents: [] }];
  expect((await resolve({ ...fresh(), regions })).body.status).toBe("create");
});

describe("a bad request to resolve", () => {
  it.each<[string, object]>([
    ["provider", { provider: "azure" }],
    ["provider", { provider: undefined }],
    ["model", { model: "" }],
    ["model", { model: 1 }],
    ["regions", { regions: undefined }],
    ["regions", { regions: [] }],
    ["regions", { regions: "text" }],
    ["regions[1].context", { regions: ["text", { context: "" }] }],
    ["regions[0].context", { regions: [{ context: null }] }],
    ["regions[0].context", { regions: [{ context: { text: "", etag: "V8Q-Ys2xUkgqUJnAQdqXZw" } }] }],
    ["hash", { hash: "abc" }],
    ["hash", { regions: undefined, hash: "" }],
    ["hash", { regions: undefined, hash: "a b" }],
    ["hash", { regions: undefined, hash: "a+/=" }],
    ["tokens", { tokens: -1 }],
    ["tokens", { tokens: 1.5 }],
    ["minTokens", { minTokens: "1" }],
    ["leaseMs", { leaseMs: 0 }],
    ["waitMs", { waitMs: -1 }],
    ["nonsense", { nonsense: 1 }],
  ])("names %s of %o", async (field, wrong) => {
    const answer = await resolve({ ...fresh(), ...wrong });
    expect(answer.status).toBe(400);
    expect(answer.body.error.code).toBe("invalid_request");
    expect(answer.body.error.details[0].path).toBe(`body.${field}`);
  });

  it.each(["", "1", "0s", "1w", "1.5h", "-1h", "PT1H", 3600, null, {}])(
    "says of the ttl %o that it is no duration",
    async (ttl) => {
      const answer = await resolve({ ...fresh(), ttl });
      expect(answer.status).toBe(400);
      expect(answer.body.error.code).toBe("invalid_request");
      expect(answer.body.error.details[0].path).toBe("body.ttl");
    },
  );

  it("takes regions of any depth", async () => {
    const raw = `{"provider":"google","model":"m","regions":[${"[".repeat(50_000)}${"]".repeat(50_000)}]}`;
    const answer = await call("/v1/prompt-cache/resolve", { raw, method: "POST" });
    expect(answer.status).toBe(200);
  });
});

describe("usage", () => {
  const app = () => ({ headers: { "Cairn-Namespace": crypto.randomUUID() } });
  const report = (json: object, who: object) => call("/v1/prompt-cache/report", { json, ...who });
  const stats = (who: object, query = "") => call(`/v1/prompt-cache/stats${query}`, who);
  const counted = (more: object = {}) => ({
    provider: "google",
    model: "m",
    cachedInputTokens: 300,
    uncachedInputTokens: 100,
    ...more,
  });

  it("is counted by the hour, the provider and the model, and summed", async () => {
    control.clockAt = NOW + 30 * MINUTE;
    const who = app();
    expect((await report(counted(), who)).status).toBe(204);
    await report(counted({ cachedInputTokens: 0 }), who);
    await report(counted({ provider: "openai", at: NOW - 1 }), who);
    await report(counted({ model: "n" }), who);
    const { body } = await stats(who);
    expect(Stats.safeParse(body).success).toBe(true);
    const one = { calls: 1, cachedInputTokens: 300, uncachedInputTokens: 100, hitRate: 0.75 };
    expect(body).toEqual({
      items: [
        { provider: "openai", model: "m", hour: NOW - HOUR, ...one },
        {
          provider: "google",
          model: "m",
          hour: NOW,
          calls: 2,
          cachedInputTokens: 300,
          uncachedInputTokens: 200,
          hitRate: 0.6,
        },
        { provider: "google", model: "n", hour: NOW, ...one },
      ],
      total: {
        calls: 4,
        cachedInputTokens: 900,
        uncachedInputTokens: 400,
        hitRate: 900 / 1300,
        tokensSaved: 900,
      },
    });
  });

  it("is counted once for one idempotency key, also through an eviction, and in each namespace by itself", async () => {
    const name = crypto.randomUUID();
    const who = { headers: { "Cairn-Namespace": name, "Idempotency-Key": "k" } };
    await Promise.all(Array.from({ length: 5 }, () => report(counted(), who)));
    await evictDurableObject(env.PROMPT_CACHE.getByName(`usage-${await hash16(`cairn:usage:*:${name}`)}`));
    expect((await report(counted(), who)).status).toBe(204);
    expect((await stats(who)).body.total.calls).toBe(1);
    const other = await report(counted({ cachedInputTokens: 1 }), who);
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"]);
    const elsewhere = { headers: { ...app().headers, "Idempotency-Key": "k" } };
    await report(counted(), elsewhere);
    expect((await stats(elsewhere)).body.total.calls).toBe(1);
    control.clockAhead = 24 * HOUR + 1;
    await report(counted({ model: "later" }), who);
    expect((await stats(who)).body.total.calls).toBe(2);
  });

  it("is empty where nothing was reported", async () => {
    expect((await stats(app())).body).toEqual({
      items: [],
      total: { calls: 0, cachedInputTokens: 0, uncachedInputTokens: 0, hitRate: 0, tokensSaved: 0 },
    });
  });

  it("is picked by time, in whole hours, and by model", async () => {
    control.clockAt = NOW + 10 * HOUR;
    const who = app();
    for (const i of [0, 1, 2, 3]) await report(counted({ at: NOW + i * HOUR, model: `m${i % 2}` }), who);
    const hours = async (query: string) =>
      (await stats(who, query)).body.items.map((item: { hour: number }) => (item.hour - NOW) / HOUR);
    expect(await hours(`?from=${NOW + HOUR + 1}`)).toEqual([1, 2, 3]);
    expect(await hours(`?to=${NOW + 2 * HOUR}`)).toEqual([0, 1, 2]);
    expect(await hours(`?from=${NOW + HOUR}&to=${NOW + 2 * HOUR - 1}`)).toEqual([1]);
    expect(await hours("?model=m1")).toEqual([1, 3]);
    expect((await stats(who, "?model=m1")).body.total.calls).toBe(2);
  });

  it("comes in pages, with the sums of all", async () => {
    control.clockAt = NOW;
    const who = app();
    for (const model of ["c", "a", "b"]) await report(counted({ model }), who);
    const seen: string[] = [];
    const page = async (cursor?: string) =>
      (await stats(who, `?limit=2${cursor === undefined ? "" : `&cursor=${cursor}`}`)).body;
    for await (const { total, items } of pages(page)) {
      expect(total.calls).toBe(3);
      seen.push(...items.map(({ model }: { model: string }) => model));
    }
    expect(seen).toEqual(["a", "b", "c"]);
    expect((await stats(who, "?cursor=nonsense")).body.error.code).toBe("invalid_cursor");
  });

  it("is kept apart by namespace and user", async () => {
    const who = app();
    const others = [app(), {}, { ...who, token: await token(newUser()) }];
    const statsOfOthers = () => Promise.all(others.map(async (other) => (await stats(other)).body.items));
    const before = await statsOfOthers();
    await report(counted(), who);
    expect(await statsOfOthers()).toEqual(before);
  });

  it("is gone after 90 days, in slices, and no sooner", async () => {
    control.clockAt = NOW;
    const name = crypto.randomUUID();
    const who = { headers: { "Cairn-Namespace": name } };
    await report(counted(), who);
    const object = env.PROMPT_CACHE.getByName(`usage-${await hash16(`cairn:usage:*:${name}`)}`);
    await runInDurableObject(object, (one) => {
      for (let i = 0; i < 1500; i++)
        one.report({
          provider: "openai",
          model: `m${i}`,
          hour: NOW,
          calls: 1,
          cachedInputTokens: 1,
          uncachedInputTokens: 1,
        });
    });
    const rows = () =>
      runInDurableObject(object, (_, { storage }) =>
        Number(storage.sql.exec("SELECT COUNT(*) AS n FROM usage").one().n),
      );
    control.clockAt = NOW + 90 * 24 * HOUR;
    await runDurableObjectAlarm(object);
    expect(await rows()).toBe(1501);
    control.clockAt += 1;
    await runDurableObjectAlarm(object);
    expect(await rows()).toBe(501);
    await runDurableObjectAlarm(object);
    expect(await rows()).toBe(0);
  });

  it.each<[string, object]>([
    ["provider", { provider: "azure" }],
    ["model", { model: undefined }],
    ["cachedInputTokens", { cachedInputTokens: -1 }],
    ["cachedInputTokens", { cachedInputTokens: "1" }],
    ["uncachedInputTokens", { uncachedInputTokens: undefined }],
    ["uncachedInputTokens", { uncachedInputTokens: 0.5 }],
    ["at", { at: -1 }],
    ["at", { at: "now" }],
    ["at", { at: 9_000_000_000_000 }],
  ])("is refused with a wrong %s: %o", async (field, wrong) => {
    const answer = await report(counted(wrong), app());
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe(`body.${field}`);
  });

  it.each(["from", "to"])("is refused to be picked by a wrong %s", async (bound) => {
    for (const wrong of ["x", "-1", "1.5"]) {
      const answer = await stats({}, `?${bound}=${wrong}`);
      expect(answer.status).toBe(400);
      expect(answer.body.error.details[0].path).toBe(`query.${bound}`);
    }
  });
});

it("does not take prompts for one that differ in a number beyond a double only", async () => {
  const raw = (order: string) => `{"provider":"google","model":"m","regions":["x",{"order":${order}}]}`;
  const answer = await call("/v1/prompt-cache/resolve", { raw: raw("12345678901234567890") });
  expect(answer.status).toBe(400);
  expect(answer.body.error.details[0].path).toBe("body.regions[1]");
  expect((await call("/v1/prompt-cache/resolve", { raw: raw('"12345678901234567890"') })).status).toBe(200);
});

it("refuses a report of a time that would count nowhere, as seconds are", async () => {
  const report = { provider: "openai", model: "m", cachedInputTokens: 1, uncachedInputTokens: 1 };
  for (const at of [0, Math.floor(clock() / 1000)]) {
    const answer = await call("/v1/prompt-cache/report", { json: { ...report, at } });
    expect(answer.status).toBe(400);
    expect(answer.body.error.details[0].path).toBe("body.at");
  }
});
