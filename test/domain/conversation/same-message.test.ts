import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { differenceIn } from "../../../src/domain/conversation/same-message.ts";

const sameMessage = (a: unknown, b: unknown): boolean => differenceIn(a, b) === undefined;

describe("the same message", () => {
  it.each<[string, unknown, unknown]>([
    ["whatever the order of its keys", { a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 }],
    ["without its undefined fields", { a: 1, b: undefined }, { a: 1 }],
    ["with a date as it is written", { at: new Date(0) }, { at: "1970-01-01T00:00:00.000Z" }],
    ["with the same bytes", { data: new Uint8Array([1, 2]) }, { data: new Uint8Array([1, 2]) }],
  ])("is it %s", (_, a, b) => {
    expect(sameMessage(a, b)).toBe(true);
    expect(sameMessage(b, a)).toBe(true);
  });
  it.each<[string, unknown, unknown]>([
    ["null for undefined", { a: null }, {}],
    ["a list for an object", { a: [] }, { a: {} }],
    ["text for a number", { a: "1" }, { a: 1 }],
    ["a longer list", [1, 2], [1]],
    ["another date", { at: new Date(0) }, { at: new Date(1) }],
    ["other bytes", { data: new Uint8Array([1]) }, { data: new Uint8Array([2]) }],
    ["another Map", { data: new Map([[1, 2]]) }, { data: new Map() }],
    ["a field that objects inherit", JSON.parse('{"__proto__": {}}'), { a: 1 }],
  ])("is not one with %s", (_, a, b) => {
    expect(sameMessage(a, b)).toBe(false);
    expect(sameMessage(b, a)).toBe(false);
  });
  it("is the same exactly if its sorted JSON is", () => {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (typeof value !== "object" || value === null) return value;
      return Object.entries(value)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, inner]) => [name, sorted(inner)]);
    };
    const value = fc.jsonValue({ maxDepth: 2 }).map((json): unknown => JSON.parse(JSON.stringify(json)));
    fc.assert(
      fc.property(value, value, (a, b) => {
        expect(sameMessage(a, structuredClone(a))).toBe(true);
        // Empty lists and objects sort to the same.
        fc.pre(!/\[\]|\{\}/.test(JSON.stringify([a, b])));
        expect(sameMessage(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      }),
    );
  });
});
