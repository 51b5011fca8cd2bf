// The pure parts of recall: query words, fusion, what is searched of a message, the vector table.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { searchableText } from "../../../src/domain/memory/message-text.ts";
import { normalised } from "../../../src/platform/embeddings/embedder.ts";
import { asksTime, contentWords, matchExpression } from "../../../src/domain/ranking/question.ts";
import { quantise } from "../../../src/platform/vectors/int8.ts";
import { Kernel } from "../../../src/platform/vectors/kernel/kernel.ts";
import { VectorTable } from "../../../src/platform/vectors/vector-table.ts";
import { anyCharacter } from "../../any-character.ts";

describe("the words of a query", () => {
  it("leave out how the question is put", () => {
    expect(contentWords("Where do I deploy the project?")).toEqual(["deploy", "project"]);
  });
  it("stay if there are no others, and are none without a letter or digit", () => {
    expect(contentWords("what is it")).toEqual(["what", "is", "it"]);
    expect(contentWords("??? 🦒 --")).toEqual([]);
  });
  it("never hold anything that FTS5 would read as its own", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (query) => {
        const words = contentWords(query);
        expect(words.length === 0 ? '"x"' : matchExpression(words)).toMatch(/^"[^"]+"( OR "[^"]+")*$/);
      }),
    );
  });
});

it.each([
  ["When did we leave?", true],
  ["About the trip: when did we leave?", true],
  ["In which year did we meet?", true],
  ["Since when is she vegan?", true],
  ["What did she say when we left?", false],
  ["What did she say, when we left?", false],
])("tells if %j asks for a time", (query, asks) => {
  expect(asksTime(query)).toBe(asks);
});

describe("what is searched of a message", () => {
  it.each([
    ["a text", { role: "user", content: "hi" }, "hi"],
    [
      "the text parts",
      { role: "user", content: [{ type: "text", text: "a" }, { type: "image", data: "x" }, "b"] },
      "a\nb",
    ],
    [
      "not what a model thought",
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "hm" },
          { type: "text", text: "a" },
        ],
      },
      "a",
    ],
    ["the parts of a UI message", { role: "user", parts: [{ type: "text", text: "a" }] }, "a"],
    ["the speaker's name before it", { role: "user", name: "Ann", content: "hi" }, "Ann: hi"],
    ["nothing of a tool call", { role: "assistant", name: "Ann", content: null, tool_calls: [] }, ""],
    ["nothing of what is no text", { role: "user", content: [{ text: 5 }, null, 7] }, ""],
  ])("is %s", (_, message, text) => {
    expect(searchableText(message)).toEqual({ text, cut: false });
  });
});

describe("the vector table", () => {
  const DIMENSIONS = 4;
  const kernel = new Kernel();
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
        const table = new VectorTable(DIMENSIONS, 100, kernel);
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
    const table = new VectorTable(dimensions, size, kernel);
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

  it("finds its own where others share the kernel, whatever their dimensions", () => {
    const unit = (dimensions: number, at: number) =>
      Float32Array.from({ length: dimensions }, (_, i) => +(i === at));
    const tables = [4, 20, 16].map((dimensions) => ({
      dimensions,
      table: new VectorTable(dimensions, 100, kernel),
    }));
    for (let n = 0; n < 50; n++)
      for (const { dimensions, table } of tables) table.set(n, quantise(unit(dimensions, n % dimensions)));
    for (const { dimensions, table } of tables)
      for (let at = 0; at < dimensions; at++) {
        const nearest = table.nearest(unit(dimensions, at), 50, () => true);
        expect(nearest.filter(({ score }) => score > 0.9).map(({ n }) => n % dimensions)).toEqual(
          Array.from({ length: Math.ceil((50 - at) / dimensions) }, () => at),
        );
      }
  });

  it("takes a kernel of its own only where it is large", () => {
    const page = 65_536;
    expect(VectorTable.bytesOf(256, 16)).toBeLessThan(page / 10);
    expect(VectorTable.bytesOf(256, 1_024)).toBeGreaterThan(1_024 * 256 + page / 4);
  });

  it("takes no more than its capacity", () => {
    const table = new VectorTable(DIMENSIONS, 2, kernel);
    const one = quantise(Float32Array.from([1, 0, 0, 0]));
    expect([1, 2, 3, 2].map((n) => table.set(n, one))).toEqual([true, true, false, true]);
    expect(table.documents).toEqual([1, 2]);
    table.delete(1);
    expect(table.set(3, one)).toBe(true);
  });
});
