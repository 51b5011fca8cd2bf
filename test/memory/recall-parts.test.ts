// The pure parts of recall: query words, fusion, what is searched of a message, the vector table.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuse } from "../../src/memory/fuse.ts";
import { searchableText } from "../../src/memory/message-text.ts";
import { normalised } from "../../src/embeddings/embedder.ts";
import { wordQuery } from "../../src/memory/query-terms.ts";
import { quantise } from "../../src/vectors/int8.ts";
import { VectorTable } from "../../src/vectors/vector-table.ts";

describe("the words of a query", () => {
  it("leave out how the question is put", () => {
    expect(wordQuery("Where do I deploy the project?")).toBe('"deploy" OR "project"');
  });
  it("stay if there are no others, and are none without a letter or digit", () => {
    expect(wordQuery("what is it")).toBe('"what" OR "is" OR "it"');
    expect(wordQuery("??? 🦒 --")).toBeNull();
  });
  it("never hold anything that FTS5 would read as its own", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (query) => {
        expect(wordQuery(query) ?? '"x"').toMatch(/^"[^"]+"( OR "[^"]+")*$/);
      }),
    );
  });
});

describe("what is searched of a message", () => {
  it.each([
    ["a text", { role: "user", content: "hi" }, "hi"],
    [
      "the text parts",
      { role: "user", content: [{ type: "text", text: "a" }, { type: "image", data: "x" }, "b"] },
      "a\nb",
    ],
    ["the parts of a UI message", { role: "user", parts: [{ type: "text", text: "a" }] }, "a"],
    ["the speaker's name before it", { role: "user", name: "Ann", content: "hi" }, "Ann: hi"],
    ["nothing of a tool call", { role: "assistant", name: "Ann", content: null, tool_calls: [] }, ""],
    ["nothing of what is no text", { role: "user", content: [{ text: 5 }, null, 7] }, ""],
  ])("is %s", (_, message, text) => {
    expect(searchableText(message)).toBe(text);
  });
});

describe("fusion", () => {
  const arm = fc.uniqueArray(
    fc.record({ n: fc.nat(30), score: fc.double({ min: 0.01, max: 9, noNaN: true }) }),
    {
      selector: ({ n }) => n,
      maxLength: 20,
    },
  );
  const sorted = (list: { n: number; score: number }[]) => list.toSorted((a, b) => b.score - a.score);

  it("keeps every candidate once, best first, with scores from 0 to 1", () => {
    fc.assert(
      fc.property(fc.option(arm), fc.option(arm), (lexical, vector) => {
        const cosines = new Map((vector ?? []).map(({ n, score }) => [n, score / 9]));
        const scaled = vector?.map(({ n }) => ({ n, score: cosines.get(n) ?? 0 })) ?? null;
        const fused = fuse(lexical && sorted(lexical), scaled && sorted(scaled), (n) => cosines.get(n));
        const all = new Set([...(lexical ?? []), ...(vector ?? [])].map(({ n }) => n));
        expect(new Set(fused.map(({ n }) => n))).toEqual(all);
        expect(fused).toHaveLength(all.size);
        for (const [i, { score }] of fused.entries()) {
          expect(score).toBeGreaterThanOrEqual(0);
          expect(score).toBeLessThanOrEqual(1 + 1e-9);
          expect(score).toBeLessThanOrEqual(fused[i - 1]?.score ?? 2);
        }
      }),
    );
  });

  it("lets a document that both arms find best win, and says how each arm ranked it", () => {
    const fused = fuse(
      [
        { n: 1, score: 5 },
        { n: 2, score: 4 },
      ],
      [
        { n: 1, score: 0.9 },
        { n: 3, score: 0.8 },
      ],
      () => 0.5,
    );
    expect(fused[0]).toMatchObject({ n: 1, lexical: 1, vector: 1 });
    expect(fused.find(({ n }) => n === 3)).not.toHaveProperty("lexical");
  });

  it("gives a document that only words found the share of its own cosine", () => {
    const scoreOf = (cosine: number) =>
      fuse([{ n: 1, score: 2 }], [{ n: 2, score: 0.8 }], (n) => (n === 1 ? cosine : 0.8)).find(
        ({ n }) => n === 1,
      )?.score;
    expect(scoreOf(0.7)).toBeGreaterThan(scoreOf(0.1) ?? 1);
  });
});

describe("the vector table", () => {
  const DIMENSIONS = 4;
  const vector = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), {
    minLength: DIMENSIONS,
    maxLength: DIMENSIONS,
  });
  const step = fc.oneof(
    fc.record({ op: fc.constant("set" as const), n: fc.nat(90), vector }),
    fc.record({ op: fc.constant("delete" as const), n: fc.nat(90) }),
  );

  it("scores as a plain map of vectors would, after any sets and deletes", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), vector, (steps, query) => {
        const table = new VectorTable(DIMENSIONS, 100);
        const plain = new Map<number, number[]>();
        for (const one of steps) {
          if (one.op === "delete") {
            table.delete(one.n);
            plain.delete(one.n);
          } else if (one.vector.some((x) => Math.abs(x) > 1e-3)) {
            table.set(one.n, quantise(Float32Array.from(one.vector)));
            plain.set(one.n, one.vector);
          }
        }
        expect(table.size).toBe(plain.size);
        const even = (n: number) => n % 2 === 0;
        const scores = table.nearest(Float32Array.from(query), 100, even);
        expect(scores).toEqual(scores.toSorted((a, b) => b.score - a.score || b.n - a.n));
        expect(new Set(scores.map(({ n }) => n))).toEqual(new Set([...plain.keys()].filter(even)));
        for (const { n, score } of scores) {
          const exact = (plain.get(n) ?? []).reduce((sum, x, i) => sum + x * (query[i] ?? 0), 0);
          expect(score).toBeCloseTo(exact, 1);
          expect(table.score(n, Float32Array.from(query))).toBe(score);
        }
      }),
    );
  });

  it("finds the nearest ten of thousands as numbers that are not quantised would", () => {
    const [dimensions, size] = [64, 5_000];
    // A small generator of its own, so that every run sees the same vectors.
    let state = 7;
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state / 2 ** 31 - 1;
    };
    const topics = Array.from({ length: 50 }, () => Array.from({ length: dimensions }, random));
    const vectorAt = (i: number) =>
      normalised(Float32Array.from(topics[i % 50] ?? [], (x) => x + 0.7 * random())) ?? new Float32Array();
    const plain = Array.from({ length: size }, (_, n) => vectorAt(n));
    const table = new VectorTable(dimensions, size);
    for (const [n, one] of plain.entries()) table.set(n, quantise(one));
    let found = 0;
    for (let q = 0; q < 5; q++) {
      const query = vectorAt(size + q);
      const exact = plain
        .map((one, n) => ({ n, score: one.reduce((sum, x, i) => sum + x * (query[i] ?? 0), 0) }))
        .toSorted((a, b) => b.score - a.score);
      const nearest = new Set(table.nearest(query, 10, () => true).map(({ n }) => n));
      found += exact.slice(0, 10).filter(({ n }) => nearest.has(n)).length;
    }
    expect(found).toBeGreaterThanOrEqual(49);
  });

  it("takes no more than its capacity, and says so", () => {
    const table = new VectorTable(DIMENSIONS, 2);
    const one = quantise(Float32Array.from([1, 0, 0, 0]));
    expect([1, 2, 3, 2].map((n) => table.set(n, one))).toEqual([true, true, false, true]);
    expect(table.full).toBe(true);
    table.delete(1);
    expect(table.set(3, one)).toBe(true);
  });
});
