// The parts that `npm run import` sends.
import { expect, it } from "vitest";
import { partsOf } from "../../../../packages/cli/transfer/parts.ts";

const line = (type: string, more: object = {}) => JSON.stringify({ type, ...more });
const header = '{"format":"cairn-export"}';
const [a, b] = [line("thread", { id: "a" }), line("thread", { id: "b" })];
const message = (n: number) => line("message", { n });
const version = (n: number) => line("memory", { id: "m", version: n, text: "x" });

async function partsAt(lines: string[], bytes: number): Promise<string[][]> {
  const parts: string[][] = [];
  async function* given() {
    yield* lines;
  }
  for await (const { body } of partsOf(given(), bytes))
    parts.push(new TextDecoder().decode(body).trimEnd().split("\n"));
  return parts;
}

it("has the thread's line again in front of a part that begins in it, or where it ends", async () => {
  const lines = [header, a, message(1), message(2), b, message(3), line("entry"), line("end")];
  // Each line is a part of its own.
  expect(await partsAt(lines, 1)).toEqual([
    [header],
    [header, a],
    [header, a, message(1)],
    [header, a, message(2)],
    [header, a, b],
    [header, b, message(3)],
    [header, b, line("entry")],
    [header, line("end")],
  ]);
});

it("keeps the versions of a memory together, and is one part where it is small", async () => {
  const lines = [header, version(1), version(2), version(3), line("end")];
  expect(await partsAt(lines, 1)).toEqual([
    [header],
    [header, version(1), version(2), version(3)],
    [header, line("end")],
  ]);
  expect(await partsAt(lines, 10_000)).toEqual([lines]);
});

it("says of each part where it begins in the export, and whether it is all of it", async () => {
  async function* given() {
    yield* [header, a, message(1), message(2), line("end")];
  }
  const parts = async (bytes: number) => {
    const begun: [from: number, whole: boolean][] = [];
    for await (const { from, whole } of partsOf(given(), bytes)) begun.push([from, whole]);
    return begun;
  };
  expect(await parts(10_000)).toEqual([[1, true]]);
  expect(await parts(header.length + a.length + 2)).toEqual([
    [1, false],
    [3, false],
  ]);
});
