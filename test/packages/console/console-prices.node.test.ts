// The console's prices are those of docs/reference/costs.md, and give the sum of its example.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { costsOf, PRICES, ROWS, sumOf } from "../../../packages/console/src/overview/prices.ts";

const costs = readFileSync(join(import.meta.dirname, "../../../docs/reference/costs.md"), "utf8");
const cellsOf = (row: string): string[] => {
  const line = costs.split("\n").find((one) => one.startsWith(`| ${row} `)) ?? "";
  return line.split("|").slice(2);
};

it.each([
  ["a memory", ROWS.memory],
  ["a thread", ROWS.thread],
  ["an append of two messages", ROWS.append],
  ["a recall among 2,000 documents", ROWS.recall],
])("takes the measured rows of %s", (call, rows) => {
  const [written, read, d1] = cellsOf(call).map((cell) => Number(cell.replaceAll(/[^\d.]/g, "")));
  expect(rows).toEqual({ written, read, d1 });
});

it.each([
  ["requests to the Worker", PRICES.request],
  ["CPU time of the Worker", PRICES.cpuMs],
  ["requests to objects, alarms", PRICES.objectRequest],
  ["duration of objects", PRICES.objectGbSecond],
  ["rows read, objects and D1", PRICES.rowRead],
  ["rows written, objects and D1", PRICES.rowWritten],
  ["stored in objects", PRICES.objectGb],
  ["stored in D1", PRICES.d1Gb],
])("takes the price of %s", (what, price) => {
  expect(Number(/\$([\d.]+)/.exec(cellsOf(what)[0] ?? "")?.[1])).toBe(price);
});

it("comes within a tenth of the documented sum, without models", () => {
  const users = 1_000;
  const days = users * 30;
  const month = {
    users,
    memories: 2 * days,
    threads: 3 * days,
    recalls: 10 * days,
    messages: 20 * days,
  };
  const [, models] = /^\| Workers AI .*\$([\d.]+) \|$/m.exec(costs) ?? [];
  const [, all] = /^\| \*\*without Vectorize.*\$([\d.]+)\*\* \|$/m.exec(costs) ?? [];
  const documented = Number(all) - Number(models);
  expect(Math.abs(sumOf(costsOf(month)) / documented - 1)).toBeLessThan(0.1);
});
