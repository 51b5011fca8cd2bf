// An erasure of the user beside an import, in the object.
import { runInDurableObject } from "cloudflare:test";
import { afterEach, expect, it } from "vitest";
import { userHash } from "../../../../src/domain/ids.ts";
import { call, newUser } from "../../../call.ts";
import { control, restore } from "../../../doubles/control.ts";
import { objectOf } from "../../../erasure-calls.ts";

afterEach(restore);

it("an import of entries stores nothing behind an erasure, also where expired entries are to be swept", async () => {
  const user = newUser();
  control.quotas = { entries: 1_000, memories: null, threads: null, bytes: null };
  // More than one statement sweeps.
  const operations = Array.from({ length: 150 }, (_, n) => ({ op: "set", key: `k${n}`, value: n, ttlMs: 1 }));
  expect((await call(`/v1/users/${user}/kv/batch`, { json: { operations } })).status).toBe(200);
  control.clockAhead += 3_600_000;
  const owner = { hash: await userHash(user), id: user };
  const line = {
    type: "entry",
    key: "of before",
    version: "019a0000-0000-7000-8000-000000000000",
    updatedAt: 1,
  } as const;
  const value = new TextEncoder().encode("1");
  await runInDurableObject(await objectOf(user), async (object) => {
    const epoch = object.epoch();
    const importing = object.importItems(owner, { epoch, items: [{ line, value }] });
    // It comes in the first turn that the import gives.
    const erasing = object.eraseUser(owner);
    expect((await erasing).ok).toBe(true);
    await importing;
  });
  expect((await call(`/v1/users/${user}/kv`)).body.items).toEqual([]);
});
