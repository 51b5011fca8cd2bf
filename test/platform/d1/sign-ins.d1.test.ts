// Sign-ins go with their user: grants and tokens are counted in the receipt, and nothing brings one back.
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { limits } from "../../../src/domain/limits.ts";
import { userHash } from "../../../src/domain/ids.ts";
import { D1SignIns, SignInChanged } from "../../../src/platform/d1/sign-ins.ts";
import { newUser } from "../../call.ts";
import worker from "../../worker.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { erased, eraseUser, erasure, ring } from "../../erasure-calls.ts";
import { Visitor } from "../../sign-in-calls.ts";

/** The library knows no other clock than `Date`. */
const at = (time: number) => vi.useFakeTimers({ now: time, toFake: ["Date"] });
beforeEach(() => {
  control.clockAt = clock();
  at(clock());
});
afterEach(() => {
  vi.useRealTimers();
  restore();
});

const stepOf = async (id: string) => (await erasure(id)).steps.find(({ store }) => store === "signIns");

it("an erasure counts a user's grants and tokens, and no other user's go", async () => {
  const visitor = new Visitor();
  const [user, other] = [newUser(), newUser()];
  const { clientId, access, refresh } = await visitor.signIn(user);
  const more = await visitor.refresh(clientId, refresh);
  const second = await visitor.signIn(user);
  const kept = await visitor.signIn(other, clientId);
  const { body } = await eraseUser(user);
  const done = await erased(user, body.id);
  expect(done.steps.find(({ store }) => store === "signIns")).toMatchObject({
    state: "done",
    erased: { grants: 2, tokens: 3 },
  });
  expect(done.receipt).toEqual(expect.any(String));
  for (const bearer of [access, more.body.access_token, second.access])
    expect((await visitor.mcp(bearer)).status).toBe(401);
  for (const old of [refresh, more.body.refresh_token])
    expect((await visitor.refresh(clientId, old)).body.error).toBe("invalid_grant");
  expect((await visitor.mcp(kept.access)).status).toBe(200);
  const left = await env.DB.prepare("SELECT COUNT(*) AS n FROM sign_ins WHERE user_hash = ?")
    .bind(await userHash(user))
    .first("n");
  expect(left).toBe(0);
});

it("a sign-in after the erasure began is new, and stays", async () => {
  const visitor = new Visitor();
  const user = newUser();
  await visitor.signIn(user);
  const { body } = await eraseUser(user);
  at(clock() + 1000);
  const { access } = await visitor.signIn(user);
  const done = await erased(user, body.id);
  expect(done.steps.find(({ store }) => store === "signIns")?.erased).toEqual({ grants: 1, tokens: 1 });
  expect((await visitor.mcp(access)).status).toBe(200);
});

it("an outage of D1 delays the receipt, and is told", async () => {
  const visitor = new Visitor();
  const user = newUser();
  const { access } = await visitor.signIn(user);
  control.signIns = "fail";
  const { body } = await eraseUser(user);
  for (let i = 0; i < 3; i++) await ring(user);
  expect(await stepOf(body.id)).toMatchObject({ state: "open", lastError: expect.any(String) });
  expect((await visitor.mcp(access)).status).toBe(200);
  control.signIns = "ok";
  await erased(user, body.id);
  expect(await stepOf(body.id)).toMatchObject({ state: "done", erased: { grants: 1, tokens: 1 } });
});

it("an erasure between two steps of a refresh is not undone by it", async () => {
  const user = await userHash(newUser());
  const signIns = new D1SignIns(env.DB);
  const [grant, accessToken] = [`grant:${user}:g`, `token:${user}:g:t`];
  const refresh = signIns.store(clock);
  const end = { expirationTtl: 3600 };
  await signIns.store(clock).put(grant, "{}", end);
  await refresh.get(grant);
  expect(await signIns.erase(user, clock())).toEqual({ grants: 1, tokens: 0 });
  await expect(refresh.put(grant, "{}", end)).rejects.toThrow(SignInChanged);
  await expect(refresh.put(accessToken, "{}", end)).rejects.toThrow(SignInChanged);
  expect(await signIns.has(user, clock())).toBe(false);
});

it("of two writers that have read the same record, one gets through; and no delete follows a change", async () => {
  const signIns = new D1SignIns(env.DB);
  const key = `transaction:${crypto.randomUUID()}`;
  const end = { expirationTtl: 600 };
  const [first, second, third] = [signIns.store(clock), signIns.store(clock), signIns.store(clock)];
  await first.put(key, "1", end);
  for (const store of [second, third]) expect(await store.get(key)).toBe("1");
  await second.put(key, "2", end);
  await expect(third.put(key, "3", end)).rejects.toThrow(SignInChanged);
  await expect(third.delete(key)).rejects.toThrow(SignInChanged);
  await second.delete(key);
  expect(await first.get(key)).toBeNull();
});

it("keeps as many as it may of one family: the oldest go, but no app that somebody signed in to", async () => {
  const user = await userHash(newUser());
  const signIns = new D1SignIns(env.DB);
  const store = signIns.store(clock);
  const end = { expirationTtl: 3600 };
  const app = `a${crypto.randomUUID()}`;
  await store.put(`client:${app}`, "{}", end);
  for (let i = 0; i < limits.signIns + 3; i++) {
    control.clockAt = clock() + 1;
    const value = JSON.stringify({ id: `g${i}`, clientId: app });
    await store.put(`grant:${user}:g${i}`, value, { ...end, metadata: { clientId: app } });
  }
  const kept = await signIns.list(user, clock());
  expect(kept.map(({ id }) => id)).toEqual(
    Array.from({ length: limits.signIns }, (_, i) => `g${limits.signIns + 2 - i}`),
  );
  const family = await env.DB.prepare("SELECT family FROM sign_ins WHERE key = ?")
    .bind(`client:${app}`)
    .first("family");
  expect(family).toBe("client:used");
  for (let i = 0; i < limits.tokensOfSignIn + 2; i++) {
    control.clockAt = clock() + 1;
    await store.put(`token:${user}:g9:t${i}`, "{}", end);
  }
  const { keys } = await store.list({ prefix: `token:${user}:g9:` });
  expect(keys).toHaveLength(limits.tokensOfSignIn);
});

it("pages of a list have every key once, and the cron deletes what has ended", async () => {
  const user = await userHash(newUser());
  const signIns = new D1SignIns(env.DB);
  const store = signIns.store(clock);
  for (let i = 0; i < 5; i++) await store.put(`grant:${user}:${i}`, "{}", { expirationTtl: 60 });
  const names: string[] = [];
  for (let cursor: string | undefined, done = false; !done;) {
    const page = await store.list({ prefix: `grant:${user}:`, limit: 2, ...(cursor && { cursor }) });
    names.push(...page.keys.map(({ name }) => name));
    [cursor, done] = [page.cursor, page.list_complete];
  }
  expect(names).toEqual([0, 1, 2, 3, 4].map((i) => `grant:${user}:${i}`));
  control.clockAt = clock() + 61_000;
  expect(await store.get(`grant:${user}:0`)).toBeNull();
  await signIns.prune(clock(), 100);
  expect(await signIns.has(user, clock())).toBe(false);
});

it("the cron deletes all that has ended, and the oldest of the apps that nobody uses", async () => {
  const add = (family: string, count: number, end: number) =>
    env.DB.prepare(
      `INSERT INTO sign_ins (key, family, value, created_at, expires_at)
       SELECT ?1 || ':' || hex(randomblob(16)), ?1, 'x', ?2 - value, ?3 FROM json_each(?4)`,
    )
      .bind(family, clock(), end, JSON.stringify(Array.from({ length: count }, (_, i) => i)))
      .run();
  const left = async (words: string) =>
    env.DB.prepare(`SELECT COUNT(*) AS n FROM sign_ins WHERE ${words}`).first("n");
  await add("transaction", 2500, clock());
  await add("client", limits.unusedApps + 1500, clock() + 60_000);
  await worker.scheduled({} as ScheduledController, env);
  expect(await left(`expires_at <= ${clock()}`)).toBe(0);
  expect(await left("family = 'client'")).toBe(limits.unusedApps);
  // The newest stay.
  expect(await left(`family = 'client' AND created_at = ${clock()}`)).toBeGreaterThan(0);
  await env.DB.prepare("DELETE FROM sign_ins WHERE family = 'client'").run();
});

it("a deleted record leaves zeros: its value is overwritten before", async () => {
  const signIns = new D1SignIns(env.DB);
  const key = `client:${crypto.randomUUID()}`;
  await signIns.store(clock).put(key, "the app's secret hash", { expirationTtl: 60 });
  const seen: unknown[] = [];
  const batch = vi.spyOn(env.DB, "batch").mockImplementation(async (statements) => {
    seen.push(
      await statements[0]?.run(),
      await env.DB.prepare("SELECT value FROM sign_ins WHERE key = ?").bind(key).first("value"),
    );
    return [];
  });
  await signIns.store(clock).delete(key);
  batch.mockRestore();
  expect(JSON.stringify(seen.at(-1))).toBe(JSON.stringify(Array.from({ length: 21 }, () => 0)));
});
