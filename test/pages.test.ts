// The tests' reader of the pages of a list.
import { expect, it } from "vitest";
import { pages } from "./call.ts";

const all = async (cursors: readonly (string | undefined)[]) => {
  let asked = 0;
  const read: (string | undefined)[] = [];
  for await (const { after } of pages(async (cursor) => ({
    after: cursor,
    cursor: cursors[asked++ % cursors.length],
  })))
    read.push(after);
  return read;
};

it("a list is read to its end", async () => {
  expect(await all(["a", "b", undefined])).toEqual([undefined, "a", "b"]);
});

it.each([[["a"]], [["a", "b"]]])(
  "cursors that lead in a circle, %j, end the test that reads them",
  async (cursors) => {
    await expect(all(cursors)).rejects.toThrow("twice");
  },
);
