// The page of metrics has the figures of GET /metrics and the columns of a data point, and the alerts name no others.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AnalyticsEngine, type Dataset } from "../../src/platform/metrics/analytics-engine.ts";

const read = (file: string): string => readFileSync(join(import.meta.dirname, "../..", file), "utf8");
const page = read("docs/reference/metrics.md");
const namesIn = (text: string): string[] => [...new Set(text.match(/\bcairn_[a-z_]+/g))].toSorted();

it("the page has every figure, and no other; the alerts name some of them", () => {
  const figures = namesIn(read("src/worker/routes/metrics.ts"));
  expect(figures.length).toBeGreaterThan(10);
  expect(namesIn(page)).toEqual(figures);
  const inAlerts = namesIn(read("docs/reference/alerts.yml"));
  expect(inAlerts.length).toBeGreaterThan(5);
  expect(figures).toEqual(expect.arrayContaining(inAlerts));
});

it("the page has every column of a point, and the queries ask for no other", () => {
  const points: Parameters<Dataset["writeDataPoint"]>[0][] = [];
  new AnalyticsEngine({ writeDataPoint: (point) => points.push(point) }).write({
    kind: "call",
    name: "GET /health",
    code: "ok",
  });
  const [{ blobs, doubles, indexes } = { blobs: [], doubles: [], indexes: [] }] = points;
  const named = (kind: string, values: readonly unknown[]) => values.map((_, i) => `${kind}${i + 1}`);
  const columns = [...named("blob", blobs), ...named("double", doubles), ...named("index", indexes)];
  expect(Array.from(page.matchAll(/^\| `((?:blob|double|index)\d+)`/gm), ([, name]) => name)).toEqual(
    columns,
  );
  const asked = read("docs/reference/queries.sql");
  expect(asked.match(/^SELECT /gm)?.length).toBeGreaterThan(5);
  for (const name of asked.match(/\b(?:blob|double|index)\d+/g) ?? []) expect(columns).toContain(name);
});
