// The alarm of the registry's objects does its work in bounded pieces.
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { control, restore } from "../../doubles/control.ts";

afterEach(restore);

const NOW = 1_800_000_000_000;
const newObject = () => env.PROMPT_CACHE.getByName(crypto.randomUUID());
type Shard = ReturnType<typeof newObject>;
const count = (object: Shard, table: string) =>
  runInDurableObject(object, (_, { storage }) =>
    Number(storage.sql.exec(`SELECT COUNT(*) AS n FROM ${table}`).one().n),
  );
const value = new TextEncoder().encode("1");

it("sweeps keys, leases and prefixes that expire in the same second in slices, until all are gone", async () => {
  control.clockAt = NOW;
  const object = newObject();
  await runInDurableObject(object, (shard) => {
    for (let i = 0; i < 1500; i++) {
      shard.set({ key: `key ${i}`, value, ttlMs: 1000 });
      shard.lease({ key: `lease ${i}`, leaseMs: 1000, waitMs: 0 });
    }
    shard.usePrefixes(
      "ledger",
      Array.from({ length: 1500 }, (_, i) => `prefix ${i}`),
      1000,
    );
    shard.set({ key: "kept", value, ttlMs: null });
    shard.lease({ key: "later", leaseMs: 600_000, waitMs: 0 });
  });
  const left = async () => [
    await count(object, "entries"),
    await count(object, "leases"),
    await count(object, "warm_prefixes"),
  ];
  control.clockAt = NOW + 120_000;
  expect(await left()).toEqual([1501, 1501, 1500]);
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await left()).toEqual([501, 501, 500]);
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await left()).toEqual([1, 1, 0]);
  control.clockAt = NOW + 1_200_000;
  expect(await runDurableObjectAlarm(object)).toBe(true);
  expect(await left()).toEqual([1, 0, 0]);
  expect(await runDurableObjectAlarm(object)).toBe(false);
});

it("leaves what waits and what is leased alone when the alarm rings", async () => {
  control.clockAt = NOW;
  const object = newObject();
  const status = await runInDurableObject(object, async (shard) => {
    shard.lease({ key: "k", leaseMs: 60_000, waitMs: 0 });
    const held = shard.lease({ key: "k", leaseMs: 60_000, waitMs: 60_000 });
    if (held.status !== "held") return held.status;
    await shard.alarm();
    shard.set({ key: "k", value, ttlMs: null });
    return (await held.answer()).status;
  });
  expect(status).toBe("hit");
});

it("remembers nothing of a flight in memory when it is over", async () => {
  const object = newObject();
  const answers = await runInDurableObject(object, async (shard) => {
    const told: string[] = [];
    for (let i = 0; i < 3; i++) {
      const first = shard.lease({ key: "k", leaseMs: 60_000, waitMs: 0 });
      const held = shard.lease({ key: "k", leaseMs: 60_000, waitMs: 50 });
      if (held.status !== "held") throw new Error("nobody is held");
      if (i < 2) shard.set({ key: "k", value, ttlMs: null });
      told.push(first.status, (await held.answer()).status);
      // Leaving after the answer changes nothing.
      held.hold[Symbol.dispose]();
      shard.forget("k");
    }
    return told;
  });
  expect(answers).toEqual(["lease", "hit", "lease", "hit", "lease", "wait"]);
});
