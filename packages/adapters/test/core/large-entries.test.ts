// What becomes of the parts of large values when a write of many fails on the way.
import { expect, it } from "vitest";
import { LargeEntries } from "../../src/entries/large-entries.ts";
import { PART } from "../../../../src/domain/entry-parts.ts";
import { failure, faked } from "../../../client/test/core/faked.ts";

type Operation = { op: string; key: string };

it("parts of an entry that was written are kept when a later step of the same write fails, and all others dropped", async () => {
  const steps: Operation[][] = [];
  const { client } = faked([
    async (request) => {
      const { operations } = await request.json<{ operations: Operation[] }>();
      steps.push(operations);
      const isLast = operations.some(({ key }) => key === "last");
      return isLast
        ? failure(412, "precondition_failed")
        : Response.json({ results: operations.map(() => ({})) });
    },
  ]);
  const big = "x".repeat(100_000);
  // One whose entry is in a step of its own parts, and entries behind it that fill more than one step.
  const small = Array.from({ length: 1500 }, (_, i) => ({ key: `small${i}`, value: i }));
  const entries = [{ key: "first", value: big }, ...small, { key: "last", value: big, ifVersion: "1" }];
  await expect(new LargeEntries(client, "alice").write(entries)).rejects.toMatchObject({
    code: "precondition_failed",
  });
  const written = steps.flat().filter(({ op, key }) => op === "set" && key.includes(PART));
  const dropped = steps.flat().filter(({ op }) => op === "delete");
  const of = (name: string, some: Operation[]) => some.filter(({ key }) => key.startsWith(name)).length;
  expect([of("first", written), of("last", written)]).toEqual([1, 1]);
  expect([of("first", dropped), of("last", dropped)]).toEqual([0, 1]);
});
