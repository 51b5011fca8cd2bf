// One bit of each number of a vector tells which vectors are likely the nearest.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { EmbeddedEmbedder } from "../../../src/platform/embeddings/embedded.ts";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";
import { CodeTable } from "../../../src/platform/vectors/code-table.ts";
import { quantise } from "../../../src/platform/vectors/int8.ts";
import { Kernel } from "../../../src/platform/vectors/kernel/kernel.ts";
import { VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import context from "../../../docs/reference/context.md?raw";
import erasure from "../../../docs/reference/erasure.md?raw";
import ingest from "../../../docs/reference/ingest.md?raw";
import memories from "../../../docs/reference/memories.md?raw";
import recall from "../../../docs/reference/recall.md?raw";
import security from "../../../docs/reference/security.md?raw";

const all = () => true;
const random = (seed: number, length: number): Float32Array => {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 31 - 1;
  });
};

it("names 99 of 100 of the nearest of real texts among a few", async () => {
  const texts = [recall, context, ingest, memories, security, erasure]
    .join(" ")
    .split(/(?<=[.!?:|])\s+/)
    .filter((text) => text.split(" ").length > 3)
    .slice(0, 500);
  const vectors = await new EmbeddedEmbedder(env.ASSETS, new WordModel()).embed(texts);
  const [table, codes] = [new VectorTable(256, 2_000, new Kernel()), new CodeTable(256, 2_000)];
  for (const [n, vector] of vectors.entries()) {
    if (vector === null) continue;
    table.add(n, quantise(vector));
    codes.add(n, quantise(vector));
  }
  expect(table.size).toBeGreaterThan(400);
  let [wanted, named] = [0, 0];
  for (const query of vectors.slice(0, 60)) {
    if (query === null) continue;
    const likely = new Set(codes.likely(query, 160, all));
    const nearest = table.nearest(query, 32, all);
    wanted += nearest.length;
    named += nearest.filter(({ n }) => likely.has(n)).length;
  }
  expect(named / wanted).toBeGreaterThan(0.99);
});

it("names only allowed documents, and none that is deleted or replaced", () => {
  const codes = new CodeTable(100, 200);
  for (let n = 0; n < 150; n++) codes.set(n, quantise(random(n, 100)));
  const nearest = (n: number, allowed: (one: number) => boolean = all) =>
    codes.likely(random(n, 100), 1, allowed)[0];
  expect([7, 149].map((n) => nearest(n))).toEqual([7, 149]);
  expect(nearest(7, (n) => n !== 7)).not.toBe(7);
  codes.delete(7);
  codes.delete(149);
  codes.delete(1_000);
  expect([codes.size, codes.has(7), codes.has(148)]).toEqual([148, false, true]);
  for (const n of [7, 149]) expect(nearest(n)).not.toBe(n);
  expect([6, 8, 148].map((n) => nearest(n))).toEqual([6, 8, 148]);
  codes.set(6, quantise(random(7, 100)));
  expect([codes.size, nearest(7)]).toEqual([148, 6]);
});

it("takes no more documents than its capacity, and tells the bytes that one adds", () => {
  const codes = new CodeTable(64, 100);
  for (let n = 0; n < 100; n++) {
    const expected = codes.bytes + codes.growthFor(n);
    expect(codes.set(n, quantise(random(n, 64)))).toBe(true);
    expect(codes.bytes).toBe(expected);
    // A code that is replaced needs no room.
    expect(codes.growthFor(n)).toBe(0);
  }
  expect([codes.set(100, quantise(random(1, 64))), codes.set(99, quantise(random(1, 64)))]).toEqual([
    false,
    true,
  ]);
  expect(codes.bytes).toBe(100 * (8 + 8));
});
