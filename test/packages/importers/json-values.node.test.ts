import fc from "fast-check";
import { expect, it } from "vitest";
import { jsonValues } from "../../../packages/importers/src/json-values.ts";

async function valuesOf(text: string, { size = 1 << 20, lists = ["results"] } = {}) {
  const bytes = Buffer.from(text);
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const found: [path: string, value: unknown][] = [];
  for await (const { path, value } of jsonValues(chunks(), { file: "f", lists: new Set(lists) }))
    found.push([path, value]);
  return found;
}

it("yields the elements of any list, wherever its bytes are cut", async () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,2}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.jsonValue()),
      space,
      fc.integer({ min: 1, max: 9 }),
      async (list, gap, size) => {
        const text = `${gap}[${list.map((value) => `${gap}${JSON.stringify(value)}${gap}`).join(",")}${gap}]${gap}`;
        const wanted = list.map((value, i) => [`[${i}]`, JSON.parse(JSON.stringify(value))]);
        expect(await valuesOf(text, { size })).toEqual(wanted);
        const wrapped = `\ufeff{"n":1,"results":${text},"x":[{}]}`;
        const inside = list.map((value, i) => [`results[${i}]`, JSON.parse(JSON.stringify(value))]);
        expect(await valuesOf(wrapped, { size })).toEqual(inside);
      },
    ),
  );
});

it("yields an object without such a list as a whole, and each line of several", async () => {
  expect(await valuesOf('{"a":[1],"__proto__":{"b":2}}')).toEqual([
    ["", JSON.parse('{"a":[1],"__proto__":{"b":2}}')],
  ]);
  expect(await valuesOf('{"a":1}\n{"a":2}\n')).toEqual([
    ["", { a: 1 }],
    ["[1]", { a: 2 }],
  ]);
  expect(await valuesOf('{"results":null}')).toEqual([["", { results: null }]]);
});

it.each(['{"a" 1}', '{"a":1,}', "{1:2}", "[1,]", '["a', "[tru]", "[1", "[1}", "]", "[] nonsense"])(
  "refuses %s",
  async (text) => {
    for (const size of [1, 100])
      await expect(valuesOf(text, { size })).rejects.toThrow(/^f is not JSON at byte \d/);
  },
);
