// Faults at every step of a memory's write, and the state after the alarm has run.
import {
  abortAllDurableObjects,
  evictDurableObject,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { D1MemoryRecords } from "../../../../src/platform/d1/memory-records.ts";
import { withDeadline } from "../../../../src/platform/deadline.ts";
import { RefusedWrite } from "../../../../src/platform/d1/write-errors.ts";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { clock, control, restore } from "../../../doubles/control.ts";
import type { MemoryRow } from "../../../../src/domain/memory/table.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
/** Rings the alarm, late enough for all that is to be tried again. */
const ring = async (user: string) => {
  control.clockAhead += 10 * 60_000;
  return runDurableObjectAlarm(await objectOf(user));
};
const remember = (user: string, text: string, more: object = {}) =>
  call(`/v1/users/${user}/memories`, { json: { text, ...more } });
const forget = (user: string, id: string) => call(`/v1/users/${user}/memories/${id}`, { method: "DELETE" });
const listed = async (user: string): Promise<string[]> =>
  (await call(`/v1/users/${user}/memories`)).body.items.map(({ text }: { text: string }) => text);
const recalled = async (user: string, query: string) =>
  (await call(`/v1/users/${user}/recall`, { json: { query } })).body;
const recalledTexts = async (user: string, query: string): Promise<string[]> =>
  (await recalled(user, query)).hits.map(({ text }: { text: string }) => text);

describe.each(["before", "after"] as const)("D1 failing %s its write", (moment) => {
  it("answers a retryable error, and after the alarm the memory is there as a whole, once", async () => {
    const user = newUser();
    control.d1Writes = moment;
    const failed = await remember(user, "the kettle is blue");
    expect(failed.status).toBe(503);
    expect(failed.body.error.code).toBe("storage_unavailable");
    expect(failed.headers.get("Retry-After")).toBeTruthy();
    expect(await recalledTexts(user, "kettle")).toEqual([]);
    control.d1Writes = "ok";
    expect(await ring(user)).toBe(true);
    expect(await listed(user)).toEqual(["the kettle is blue"]);
    // The alarm that stored it has set the next one, which embeds it.
    await ring(user);
    const answer = await recalled(user, "what colour is the kettle?");
    expect(answer.hits).toMatchObject([{ text: "the kettle is blue", why: { lexical: 1, vector: 1 } }]);
    expect(answer.freshness).toEqual({ indexed: 1, pending: 0 });
  });

  it("stores once what the caller retries, without and with the alarm in between", async () => {
    const user = newUser();
    for (const text of ["retried at once", "retried later"]) {
      control.d1Writes = moment;
      for (let i = 0; i < 3; i++) expect((await remember(user, text)).status).toBe(503);
      control.d1Writes = "ok";
      if (text === "retried later") await ring(user);
      expect((await remember(user, text)).status).toBe(200);
    }
    expect(await listed(user)).toEqual(["retried later", "retried at once"]);
    expect((await recalled(user, "retried")).hits).toHaveLength(2);
  });

  it("survives the eviction of the object between the fault and the alarm", async () => {
    const user = newUser();
    control.d1Writes = moment;
    await remember(user, "survivor");
    await evictDurableObject(await objectOf(user));
    control.d1Writes = "ok";
    await ring(user);
    expect(await listed(user)).toEqual(["survivor"]);
    expect(await recalledTexts(user, "survivor")).toEqual(["survivor"]);
  });

  it("goes on trying while the outage lasts", async () => {
    const user = newUser();
    control.d1Writes = moment;
    await remember(user, "patience");
    for (let i = 0; i < 4; i++) expect(await ring(user)).toBe(true);
    control.d1Writes = "ok";
    expect(await ring(user)).toBe(true);
    expect(await listed(user)).toEqual(["patience"]);
    // One more alarm may have been set on the way; after it, all is quiet.
    await ring(user);
    expect(await ring(user)).toBe(false);
  });

  it("never recalls a memory whose forgetting failed, and deletes it with the alarm", async () => {
    const user = newUser();
    const { id } = (await remember(user, "a secret")).body;
    control.d1Writes = moment;
    const failed = await forget(user, id);
    expect(failed.status).toBe(503);
    expect(failed.body.error.message).toContain("no longer finds");
    expect(await recalledTexts(user, "secret")).toEqual([]);
    expect((await forget(user, id)).status).toBe(503);
    control.d1Writes = "ok";
    await ring(user);
    expect(await recalledTexts(user, "secret")).toEqual([]);
    expect(await listed(user)).toEqual([]);
    expect((await forget(user, id)).status).toBe(404);
  });

  it("lets the caller's retry finish a forgetting that failed", async () => {
    const user = newUser();
    const { id } = (await remember(user, "a secret")).body;
    control.d1Writes = moment;
    await forget(user, id);
    control.d1Writes = "ok";
    expect((await forget(user, id)).status).toBe(204);
    expect(await listed(user)).toEqual([]);
  });

  it("does not bring a memory back whose change was still open when it was forgotten", async () => {
    const user = newUser();
    const { id } = (await remember(user, "open change")).body;
    control.d1Writes = moment;
    expect((await remember(user, "open change", { tags: ["new"] })).status).toBe(503);
    expect((await forget(user, id)).status).toBe(503);
    control.d1Writes = "ok";
    const seen: string[][] = [];
    control.duringD1Write = async () => void seen.push(await recalledTexts(user, "open change"));
    await ring(user);
    expect(seen).toEqual([[]]);
    expect(await recalledTexts(user, "open change")).toEqual([]);
    expect(await listed(user)).toEqual([]);
  });
});

it("does not let a write that D1 refuses stand in the way of later ones", async () => {
  const user = newUser();
  control.d1Writes = "refused";
  const refused = await remember(user, "poison");
  expect(refused.status).toBe(500);
  expect(refused.body.error.code).toBe("internal");
  control.d1Writes = "ok";
  expect((await remember(user, "healthy")).status).toBe(201);
  control.d1Writes = "before";
  await remember(user, "refused when it is tried again");
  control.d1Writes = "refused";
  expect((await forget(user, "019a0000-0000-7000-8000-000000000000")).status).toBe(404);
  control.d1Writes = "ok";
  expect((await remember(user, "innocent")).status).toBe(201);
  expect(await listed(user)).toEqual(["innocent", "healthy"]);
});

it("lets forgets through while a full database takes no puts", async () => {
  const user = newUser();
  const { id } = (await remember(user, "makes room")).body;
  control.d1Writes = "full";
  for (const text of ["one", "two"]) expect((await remember(user, text)).status).toBe(507);
  expect((await forget(user, id)).status).toBe(204);
  expect(await listed(user)).toEqual([]);
  control.d1Writes = "ok";
  await ring(user);
  expect(await listed(user)).toEqual([]);
});

it("forgets a memory that only D1 has, since the answer of its write was lost", async () => {
  const user = newUser();
  control.d1Writes = "after";
  await remember(user, "lost and found");
  const { items } = (await call(`/v1/users/${user}/memories`)).body;
  expect(items).toHaveLength(1);
  control.d1Writes = "ok";
  expect((await forget(user, items[0].id)).status).toBe(204);
  await ring(user);
  expect(await listed(user)).toEqual([]);
  expect(await recalledTexts(user, "lost")).toEqual([]);
});

it("says in a failure what became of the write that was asked for, not of an older one", async () => {
  const user = newUser();
  const { id } = (await remember(user, "to be forgotten")).body;
  control.d1Writes = "before";
  expect((await remember(user, "first")).body.error.message).toContain("did not confirm the write");
  expect((await remember(user, "second")).body.error.message).toContain("nothing was stored");
  expect((await forget(user, id)).body.error.message).toContain("no longer finds");
  expect((await remember(user, "third")).body.error.message).toContain("nothing was stored");
});

describe("while D1 hangs", () => {
  it("a forget takes effect in recall at once, and the write that hung cannot bring the memory back", async () => {
    const user = newUser();
    const { id } = (await remember(user, "about the heron")).body;
    const held = Promise.withResolvers<void>();
    control.duringD1Write = () => held.promise;
    const again = remember(user, "About the heron");
    await scheduler.wait(10);
    const forgotten = forget(user, id);
    await scheduler.wait(10);
    expect(await recalledTexts(user, "heron")).toEqual([]);
    control.duringD1Write = async () => {};
    held.resolve();
    expect((await forgotten).status).toBe(204);
    await again;
    expect(await recalledTexts(user, "heron")).toEqual([]);
    expect(await listed(user)).toEqual([]);
  });

  it("a write that hangs gives up, and the ones behind it go on", async () => {
    await expect(withDeadline(new Promise(() => {}), 5)).rejects.toThrow("within 5 ms");
    expect(await withDeadline(Promise.resolve(1), 5)).toBe(1);
    await expect(withDeadline(Promise.reject(new Error("its own")), 5)).rejects.toThrow("its own");
  });

  it("an object that dies with the write under way finishes it when its alarm rings by itself", async () => {
    const user = newUser();
    const object = await objectOf(user);
    control.duringD1Write = () => new Promise(() => {});
    void remember(user, "under way").catch(() => null);
    await scheduler.wait(20);
    const alarm = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
    expect(alarm).toBeGreaterThan(clock());
    expect(alarm).toBeLessThanOrEqual(clock() + 5_000);
    control.duringD1Write = async () => {};
    await abortAllDurableObjects();
    await ring(user);
    expect(await listed(user)).toEqual(["under way"]);
  });
});

it("tries again later and later, and not before", async () => {
  const user = newUser();
  let writes = 0;
  control.clockAt = clock();
  control.d1Writes = "before";
  control.duringD1Write = async () => void writes++;
  await remember(user, "patience");
  const waits: number[] = [];
  for (let i = 0; i < 8; i++) {
    const before = writes;
    const due = await runInDurableObject(await objectOf(user), (_, { storage }) =>
      Number(storage.sql.exec("SELECT due_at FROM intents").one().due_at),
    );
    waits.push(due - control.clockAt);
    control.clockAt = due - 1;
    await runDurableObjectAlarm(await objectOf(user));
    expect(writes).toBe(before);
    control.clockAt = due;
    await runDurableObjectAlarm(await objectOf(user));
    expect(writes).toBe(before + 1);
  }
  expect(waits).toEqual([5_000, 10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
});

it("tells a write that D1 refuses from an outage", async () => {
  const records = new D1MemoryRecords(env.DB);
  const row = { userHash: "h", id: "i", version: 1, text: null, tags: [] } as unknown as MemoryRow;
  const write = { owner: { hash: "h", id: "u" }, seq: 1, put: [row], forget: [] };
  await expect(records.write(write)).rejects.toBeInstanceOf(RefusedWrite);
});

it("answers reads that D1 fails with a retryable error", async () => {
  const user = newUser();
  control.d1Reads = "fail";
  for (const path of ["memories", "memories/019a0000-0000-7000-8000-000000000000"]) {
    const answer = await call(`/v1/users/${user}/${path}`);
    expect(answer.status).toBe(503);
    expect(answer.body.error.code).toBe("storage_unavailable");
  }
});

it("goes on recalling what is there while D1 is down", async () => {
  const user = newUser();
  await remember(user, "the lake is cold");
  control.d1Reads = "fail";
  control.d1Writes = "before";
  expect(await recalledTexts(user, "lake")).toEqual(["the lake is cold"]);
});

describe("the embedder failing", () => {
  it("on a memory: it is stored, found by its words at once, and by meaning after the alarm", async () => {
    const user = newUser();
    control.embedder = "fail";
    expect((await remember(user, "my sister lives in Porto")).status).toBe(201);
    control.embedder = "ok";
    const before = await recalled(user, "sister");
    expect(before.hits).toMatchObject([{ why: { lexical: 1 } }]);
    expect(before.freshness).toEqual({ indexed: 1, pending: 1 });
    await ring(user);
    const after = await recalled(user, "where is the home of my sibling?");
    expect(after.hits).toMatchObject([{ why: { vector: 1 } }]);
    expect(after.freshness).toEqual({ indexed: 1, pending: 0 });
  });

  it("on a query: words answer, and the answer says that an arm failed", async () => {
    const user = newUser();
    await remember(user, "my sister lives in Porto");
    control.embedder = "fail";
    // Not asked before: the Worker remembers the vectors of queries.
    const answer = await recalled(user, "that sister");
    expect(answer.hits).toMatchObject([{ text: "my sister lives in Porto", why: { lexical: 1 } }]);
    expect(answer.degraded).toBe(true);
    expect(answer.arms).toMatchObject([
      { name: "lexical", status: "ok" },
      { name: "vector", status: "failed" },
      { name: "key", status: "off" },
      { name: "date", status: "off" },
      { name: "vectorize", status: "off" },
    ]);
  });

  it("on one text only: all others get their vectors", async () => {
    const user = newUser();
    const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
    const texts = ["I play the oboe", "what no embedder takes", "I grow roses"];
    control.unembeddable = "what no embedder takes";
    const messages = texts.map((content) => ({ role: "user", content }));
    await call(`/v1/threads/${id}/messages`, { json: { messages } });
    for (let i = 0; i < 3; i++) await ring(user);
    expect((await recalled(user, "oboe")).freshness.pending).toBe(1);
    control.unembeddable = null;
    await ring(user);
    expect((await recalled(user, "oboe")).freshness.pending).toBe(0);
  });

  it("in the alarm: the documents wait for the next one", async () => {
    const user = newUser();
    const { id } = (await call(`/v1/users/${user}/threads`, { json: {} })).body;
    await call(`/v1/threads/${id}/messages`, {
      json: { messages: [{ role: "user", content: "I play the oboe" }] },
    });
    control.embedder = "fail";
    await ring(user);
    expect((await recalled(user, "oboe")).freshness.pending).toBe(1);
    control.embedder = "ok";
    await ring(user);
    expect((await recalled(user, "oboe")).freshness.pending).toBe(0);
  });
});

it("writes in the order in which it accepted, while a slow D1 holds the first write", async () => {
  const user = newUser();
  const order: number[] = [];
  let held = 0;
  control.duringD1Write = async () => {
    const mine = held++;
    await scheduler.wait(mine === 0 ? 50 : 0);
    order.push(mine);
  };
  await Promise.all([remember(user, "first"), remember(user, "second"), remember(user, "third")]);
  expect(order).toEqual([0, 1, 2]);
  expect(await listed(user)).toHaveLength(3);
});

it("does not answer with a forgotten memory when its remembering is repeated", async () => {
  const user = newUser();
  const headers = { "Idempotency-Key": "k" };
  const json = { text: "the secret" };
  const { id } = (await call(`/v1/users/${user}/memories`, { json, headers })).body;
  await forget(user, id);
  const again = await call(`/v1/users/${user}/memories`, { json, headers });
  expect(again.status).toBe(201);
  expect(again.body.id).not.toBe(id);
  expect(await listed(user)).toEqual(["the secret"]);
});

describe("a forget that comes in the middle of another write", () => {
  it("is not undone by a change that waited for its vector", async () => {
    for (const all of [false, true]) {
      const user = newUser();
      const { id } = (await remember(user, "about the heron")).body;
      const gate = { reached: false, open: false };
      control.duringEmbed = async () => {
        gate.reached = true;
        while (!gate.open) await scheduler.wait(1);
      };
      const changed = call(`/v1/users/${user}/memories/${id}`, {
        method: "PATCH",
        json: { text: "the heron again" },
      });
      while (!gate.reached) await scheduler.wait(1);
      control.duringEmbed = async () => {};
      const forgotten = call(`/v1/users/${user}/memories${all ? "" : `/${id}`}`, { method: "DELETE" });
      await scheduler.wait(10);
      gate.open = true;
      expect((await changed).status).toBe(404);
      expect((await forgotten).status).toBe(204);
      expect(await listed(user)).toEqual([]);
      control.embedder = "fail";
      expect(await recalledTexts(user, "heron")).toEqual([]);
      control.embedder = "ok";
    }
  });

  it("holds in D1 against a write that is repeated after a restart", async () => {
    const user = newUser();
    control.d1Writes = "before";
    await remember(user, "about the heron");
    await evictDurableObject(await objectOf(user));
    control.d1Writes = "ok";
    const gate = { reached: false, open: false };
    control.duringD1Write = async () => {
      gate.reached = true;
      while (!gate.open) await scheduler.wait(1);
    };
    const rung = ring(user);
    while (!gate.reached) await scheduler.wait(1);
    const forgotten = call(`/v1/users/${user}/memories`, { method: "DELETE" });
    await scheduler.wait(10);
    gate.open = true;
    await rung;
    expect((await forgotten).status).toBe(204);
    expect(await listed(user)).toEqual([]);
  });

  it("does not make another write fail that D1 would take", async () => {
    const user = newUser();
    const { id } = (await remember(user, "to be forgotten")).body;
    control.d1Writes = "before";
    await remember(user, "open");
    control.d1Writes = "ok";
    const gate = { reached: false, open: false };
    control.duringD1Write = async () => {
      gate.reached = true;
      while (!gate.open) await scheduler.wait(1);
    };
    const remembered = remember(user, "behind what is open");
    while (!gate.reached) await scheduler.wait(1);
    const forgotten = forget(user, id);
    await scheduler.wait(10);
    gate.open = true;
    expect((await remembered).status).toBe(201);
    expect((await forgotten).status).toBe(204);
  });
});

it("does not sweep a memory that takes the place of an expired one just now", async () => {
  const user = newUser();
  control.clockAt = clock() + 24 * 3_600_000;
  const fact = { subject: "the heron", predicate: "is", object: "here", cardinality: "one" };
  await call(`/v1/users/${user}/memories`, { json: { ...fact, expiresAt: control.clockAt + 1_000 } });
  control.clockAt += 2_000;
  const gate = { reached: false, open: false };
  control.duringD1Write = async () => {
    gate.reached = true;
    while (!gate.open) await scheduler.wait(1);
  };
  const anew = call(`/v1/users/${user}/memories`, { json: fact });
  while (!gate.reached) await scheduler.wait(1);
  const rung = runDurableObjectAlarm(await objectOf(user));
  await scheduler.wait(10);
  gate.open = true;
  expect((await anew).status).toBe(201);
  await rung;
  expect(await listed(user)).toEqual(["the heron is here"]);
  expect(await recalledTexts(user, "heron")).toEqual(["the heron is here"]);
});

it("forgets by a filter what an open write makes", async () => {
  const user = newUser();
  const tagged = { text: "tagged", tags: ["secret"] };
  control.d1Writes = "after";
  await call(`/v1/users/${user}/memories`, { json: tagged });
  control.d1Writes = "ok";
  const filter = { tags: ["secret"] };
  const forgotten = await call(`/v1/users/${user}/memories/forget`, { json: { filter } });
  expect(forgotten.body.count).toBe(1);
  await ring(user);
  expect(await listed(user)).toEqual([]);
});

it("never gives the number of a version twice, not even of one that only D1 ever had", async () => {
  const user = newUser();
  control.d1Writes = "after";
  await remember(user, "first");
  const [lost] = (await call(`/v1/users/${user}/memories`)).body.items;
  control.d1Writes = "ok";
  await forget(user, lost.id);
  expect((await remember(user, "second")).body.version).toBeGreaterThan(lost.version);
});

it("goes on where a transaction of the object failed", async () => {
  const user = newUser();
  await remember(user, "the kettle");
  const { id } = (await remember(user, "the heron")).body;
  // The vectors are in memory from now on.
  expect(await recalledTexts(user, "heron")).toContain("the heron");
  control.failingTransactions = 1;
  expect((await forget(user, id)).status).toBe(500);
  control.failingTransactions = 0;
  const { hits } = await recalled(user, "heron");
  expect(hits[0]).toMatchObject({ text: "the heron", why: { lexical: 1, vector: 1 } });
  // The write is not noted, or is in D1 and not yet here.
  control.failingTransactions = 1;
  expect((await remember(user, "the reed")).status).toBe(500);
  control.duringD1Write = async () => void (control.failingTransactions = 1);
  expect((await remember(user, "the lake")).status).toBe(500);
  control.duringD1Write = async () => {};
  control.failingTransactions = 0;
  await ring(user);
  await ring(user);
  expect((await listed(user)).toSorted()).toEqual(["the heron", "the kettle", "the lake"]);
  expect(await recalledTexts(user, "lake")).toContain("the lake");
});
