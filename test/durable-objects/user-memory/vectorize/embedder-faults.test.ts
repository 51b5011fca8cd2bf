// An embedder that hangs, is slow, answers nonsense or is set up wrong, in the Worker and in the object's alarm.
import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { upkeep } from "../../../../src/worker/use-cases/upkeep.ts";
import { services } from "../../../../src/worker/app.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { faultyPorts } from "../../../doubles/ports.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => {
  control.clockAhead += 10 * 60_000;
  return runDurableObjectAlarm(await objectOf(user));
};
const remember = (user: string, text: string) => call(`/v1/users/${user}/memories`, { json: { text } });
const recalled = async (user: string, query: string) =>
  (await call(`/v1/users/${user}/recall`, { json: { query } })).body;
const pending = async (user: string, query: string) => (await recalled(user, query)).freshness.pending;
const append = async (user: string, texts: readonly string[]) => {
  const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
  const messages = texts.map((content) => ({ role: "user", content }));
  await call(`/v1/threads/${id}/messages`, { json: { messages } });
};

describe.each(["fail", "hang", "wrong"] as const)("an embedder that does this: %s", (how) => {
  it("on a query: words answer, and the answer says that an arm failed", async () => {
    const user = newUser();
    await remember(user, "my sister lives in Porto");
    control.embedder = how;
    const answer = await recalled(user, `sister ${how}`);
    expect(answer.hits).toMatchObject([{ text: "my sister lives in Porto", why: { lexical: 1 } }]);
    expect(answer.degraded).toBe(true);
    const status = how === "hang" ? "late" : "failed";
    expect(answer.arms).toContainEqual(expect.objectContaining({ name: "vector", status }));
  });

  it("on a document: it is stored, found by its words, and by its meaning after the alarm", async () => {
    const user = newUser();
    control.embedder = how;
    expect((await remember(user, "my sister lives in Porto")).status).toBe(201);
    control.embedder = "ok";
    expect(await pending(user, "sister")).toBe(1);
    await ring(user);
    expect((await recalled(user, "the home of a sibling")).hits).toMatchObject([{ why: { vector: 1 } }]);
  });

  it("in the alarm: the documents wait, and what else is due is done", async () => {
    const user = newUser();
    await append(user, ["I play the oboe", "I grow roses"]);
    await call(`/v1/users/${user}/kv/soon?ttlMs=1000`, { method: "PUT", json: 1 });
    control.embedder = how;
    await ring(user);
    expect(await pending(user, "oboe")).toBe(2);
    expect((await call(`/v1/users/${user}/kv/soon`)).status).toBe(404);
    control.embedder = "ok";
    for (let i = 0; i < 2; i++) await ring(user);
    expect(await pending(user, "oboe")).toBe(0);
  });
});

it("a slow embedder is waited for, and what is forgotten meanwhile gets no vector", async () => {
  const user = newUser();
  await append(user, ["I play the oboe"]);
  const { id } = (await call(`/v1/users/${user}/threads`)).body.items[0];
  const [asked, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  control.duringEmbed = async () => {
    asked.resolve();
    await slow.promise;
  };
  const rang = ring(user);
  await asked.promise;
  expect((await call(`/v1/threads/${id}`, { method: "DELETE" })).status).toBe(204);
  slow.resolve();
  await rang;
  control.duringEmbed = async () => {};
  const answer = await recalled(user, "who plays an instrument?");
  expect(answer).toMatchObject({ hits: [], freshness: { indexed: 0, pending: 0 } });
});

it("a query is embedded as a query, and everything else as a document", async () => {
  const user = newUser();
  await remember(user, "a document of one");
  await append(user, ["a document of the alarm"]);
  await ring(user);
  await recalled(user, "a query of one");
  const of = (text: string) =>
    control.embedded.filter(({ texts }) => texts.includes(text)).map(({ as }) => as);
  expect(of("a document of one")).toEqual(["document"]);
  expect(of("a document of the alarm")).toEqual(["document"]);
  expect(of("a query of one")).toEqual(["query"]);
});

it("the same query is embedded once", async () => {
  for (const user of [newUser(), newUser()]) await recalled(user, "asked twice");
  expect(control.embedded.filter(({ texts }) => texts.includes("asked twice"))).toHaveLength(1);
});

describe("a model's name that is misspelt", () => {
  it("leaves the vectors that are there, which are searched, and embeds what waited once it is mended", async () => {
    const user = newUser();
    await remember(user, "my sister lives in Porto");
    control.misnamed = true;
    await evictDurableObject(await objectOf(user));
    await append(user, ["I play the oboe"]);
    await call(`/v1/users/${user}/reindex`, { method: "POST" });
    await ring(user);
    // The Worker's embedder is the old one still; the object asks it as a former one.
    const during = await recalled(user, "the home of a brother");
    expect(during.hits).toMatchObject([{ text: "my sister lives in Porto", why: { vector: 1 } }]);
    expect(during.freshness.pending).toBe(1);
    // A Worker that is set up wrong as well has no vector of the query at all.
    const none = { model: "none", dimensions: 0, vector: "failed" } as const;
    const owner = await userHash(user);
    const query = { owner, query: "the home of a brother", k: 10, queryVector: none };
    const { userMemory } = services(env, faultyPorts(env));
    const without = await userMemory(owner).recall(query);
    expect(without).toMatchObject({
      ok: true,
      value: {
        hits: [{ text: "my sister lives in Porto", why: { vector: 1 } }],
        arms: expect.arrayContaining([expect.objectContaining({ name: "vector", status: "failed" })]),
      },
    });
    control.misnamed = false;
    await evictDurableObject(await objectOf(user));
    const asked = control.embedded.length;
    await ring(user);
    expect(control.embedded.slice(asked)).toEqual([{ texts: ["I play the oboe"], as: "document" }]);
    expect(await pending(user, "oboe")).toBe(0);
  });

  it("begins no reindex of the tenant", async () => {
    const ports = faultyPorts(env);
    await upkeep(services(env, ports));
    const before = await ports.jobs.get("reindex");
    control.misnamed = true;
    await upkeep(services(env, faultyPorts(env)));
    expect(await ports.jobs.get("reindex")).toEqual(before);
  });
});

it("a model that computes in the isolate gets a bounded number of characters in each alarm", async () => {
  const user = newUser();
  control.batchCharacters = 10;
  await append(user, ["four", "five", "a message of more than ten", "six"]);
  const batches = () => control.embedded.filter(({ as }) => as === "document").map(({ texts }) => texts);
  const rung: (readonly string[])[] = [];
  for (let alarms = 1; alarms <= 3; alarms++) {
    const before = batches().length;
    await ring(user);
    rung.push(...batches().slice(before));
    expect(rung).toHaveLength(alarms);
  }
  expect(rung).toEqual([["four", "five"], ["a message of more than ten"], ["six"]]);
});
