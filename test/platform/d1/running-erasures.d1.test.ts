// Which erasures the cron wakes, where there are more than one run takes.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { D1ErasureRecords } from "../../../src/platform/d1/erasure-records.ts";
import type { Erasure } from "../../../src/domain/schema/erasure.ts";

it.each([
  ["none", 0, [0, 0, 0]],
  ["fewer than a page", 3, [3, 3, 3]],
  ["a page", 4, [4, 4, 4]],
  ["full pages", 8, [4, 4, 4]],
  ["a page begun", 9, [4, 4, 1]],
])(
  "pages through the erasures under way, a page each turn, and leaves no turn empty: %s",
  async (_, many, pages) => {
    const records = new D1ErasureRecords(env.DB);
    await env.DB.prepare("DELETE FROM erasures").run();
    const all = Array.from({ length: many }, (_n, i) => `erasure-${i}`);
    for (const [i, id] of all.entries()) {
      const state: Erasure = { id, status: "running", of: { what: "user" }, requestedAt: i, steps: [] };
      await records.note(state, { revision: 1 });
    }
    const seen: string[][] = [];
    for (const turn of [0, 1, 2]) seen.push(await records.running({ before: 1000, limit: 4, turn }));
    expect(seen.map(({ length }) => length)).toEqual(pages);
    expect([...new Set(seen.flat())].toSorted()).toEqual(all);
  },
);
