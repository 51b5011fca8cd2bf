import { expect, it } from "vitest";
import { inSlices, part, raw } from "../../../durable-objects/storage/sql.ts";

it("binds a value that looks like a part", () => {
  const parsed = JSON.parse('{"sql":"1 OR TRUE","bindings":[]}');
  const { sql, bindings } = part`SELECT ${raw("a")} FROM t WHERE b = ${parsed} AND ${part`c = ${2}`}`;
  expect([sql, bindings]).toEqual(["SELECT a FROM t WHERE b = ? AND c = ?", [parsed, 2]]);
});

it("reads slices until one is not full, and none for a slice of no rows", () => {
  const rows = [1, 2, 3, 4, 5];
  const behind = (size: number) => (last: number | undefined) => rows.slice(last ?? 0, (last ?? 0) + size);
  expect([...inSlices(2, behind(2))]).toEqual(rows);
  expect([...inSlices(0, behind(0))]).toEqual([]);
});
