import { env, exports } from "cloudflare:workers";
import { afterEach, expect, it } from "vitest";
import { call, health } from "../../call.ts";
import { clock, control, restore } from "../../doubles/control.ts";
import { portsOf } from "../../../src/platform/bindings.ts";
import { createApp } from "../../../src/worker/app.ts";
import { operations } from "../../operations.ts";

afterEach(restore);

it("asks D1 for /health once in five seconds, whoever asks how often, and then again", async () => {
  control.clockAt = clock();
  let reads = 0;
  const prepare = (query: string) => {
    reads++;
    return env.DB.prepare(query);
  };
  const app = createApp((bound) => ({ ...portsOf(bound), now: clock }));
  const DB = { prepare, batch: env.DB.batch.bind(env.DB) } as unknown as D1Database;
  const bindings = { ...env, DB };
  const ask = async () => (await app.request("/health", {}, bindings)).json();
  const first = await ask();
  const once = reads;
  expect(once).toBeGreaterThan(0);
  for (let i = 0; i < 3; i++) expect(await ask()).toEqual(first);
  expect(reads).toBe(once);
  control.clockAt += 5_000;
  expect(await ask()).toEqual(first);
  // The first call also looked for what is read once.
  expect(reads).toBeGreaterThan(once);
});

it("says at /health which embedder and which vector index are live", async () => {
  const { status, body } = await health();
  expect(status).toBe(200);
  expect(body).toEqual({
    status: "ok",
    embedder: { model: "static2-en-256", dimensions: 256 },
    languageModel: null,
    vectorIndex: "object",
  });
});

it("says at /health that D1 does not answer", async () => {
  control.d1Reads = "fail";
  const { status, body } = await health();
  expect(status).toBe(503);
  expect(body.problems).toEqual([expect.stringContaining("D1")]);
});

it("describes every operation: a summary, a tag, its scope, its failures", async () => {
  const { body, status } = await call("/openapi.json", { token: null });
  expect(status).toBe(200);
  expect(body.openapi).toBe("3.1.0");
  for (const { method, path } of await operations()) {
    const operation = body.paths[path][method.toLowerCase()];
    expect(operation.summary, `${method} ${path}`).toBeTruthy();
    expect(operation.tags, `${method} ${path}`).toHaveLength(1);
    const failure = path === "/health" ? operation.responses[503] : operation.responses.default;
    expect(failure.content["application/json"].schema.$ref).toMatch(/Error|Health/);
  }
  expect(body.components.securitySchemes.bearer).toMatchObject({ type: "http", scheme: "bearer" });
});

it("serves the reference page and all that it loads itself, under a policy without inline scripts", async () => {
  const front = await exports.default.fetch("https://cairn.test/", { redirect: "manual" });
  expect(front.headers.get("Location")).toBe("/docs");
  const page = await call("/docs", { token: null });
  expect(page.status).toBe(200);
  expect(page.headers.get("Content-Security-Policy")).toContain("script-src 'self';");
  const loaded = [...page.text.matchAll(/(?:src|href)="([^":]+)"/g)].map(
    ([, path = ""]) => new URL(path, "https://cairn.test/docs").pathname,
  );
  expect(loaded).toHaveLength(3);
  expect(page.text).not.toMatch(/https?:\/\//);
  for (const path of loaded) {
    const file = await call(path, { token: null });
    expect(file.status, path).toBe(200);
    expect(file.text.length, path).toBeGreaterThan(100);
  }
  expect((await call("/docs/nothing.js", { token: null })).status).toBe(404);
});

it("lists the pages of the documentation for a language model, by addresses that need no Cairn", async () => {
  const list = await call("/llms.txt", { token: null });
  expect([list.status, list.headers.get("Content-Type")]).toEqual([200, "text/plain; charset=utf-8"]);
  const links = [...list.text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link);
  expect(links).toContain("https://raw.githubusercontent.com/edgecairn/cairn/main/docs/reference/api.md");
  expect(links.filter((link) => !link.startsWith("https://"))).toEqual([]);
});
