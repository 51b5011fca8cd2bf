// What is left after a fault at every step of a memory's write, and after the alarm has run.
import { evictDurableObject, runDurableObjectAlarm } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it } from "vitest";
import { D1MemoryRecords } from "../../src/d1/memory-records.ts";
import { RefusedWrite } from "../../src/d1/refused.ts";
import type { MemoryRow } from "../../src/d1/tables.ts";
import { userHash } from "../../src/ids.ts";
import { call, newUser } from "../call.ts";
import { control, restore } from "../doubles/control.ts";

afterEach(restore);

const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
const ring = async (user: string) => runDurableObjectAlarm(await objectOf(user));
const remember = (user: string, text: string) => call(`/v1/users/${user}/memories`, { json: { text } });
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
    expect(failed.body.error.message).toContain("gone from recall");
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
    expect((await remember(user, "open change")).status).toBe(503);
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
  expect(await listed(user)).toEqual(["healthy"]);
});

it("tells a write that D1 refuses from an outage", async () => {
  const records = new D1MemoryRecords(env.DB);
  const row = {
    userHash: "h",
    id: "i",
    userId: null,
    tags: [],
    createdAt: 1,
    updatedAt: 1,
  } as unknown as MemoryRow;
  await expect(records.put(row)).rejects.toBeInstanceOf(RefusedWrite);
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
    const answer = await recalled(user, "sister");
    expect(answer.hits).toMatchObject([{ text: "my sister lives in Porto", score: 1, why: { lexical: 1 } }]);
    expect(answer.degraded).toBe(true);
    expect(answer.arms).toMatchObject([
      { name: "lexical", status: "ok" },
      { name: "vector", status: "failed" },
    ]);
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
