// Cairn below a path of another Worker's Hono app.
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { Hono } from "hono";
import { expect, expectTypeOf, it } from "vitest";
import type { Bindings } from "../../../../src/platform/bindings.ts";
import { cairn } from "../../../client/src/index.ts";
import { mounted } from "../../worker/mounted.ts";
import { type CairnBindings, cairnWorker } from "../../worker/index.ts";
import { newUser, token } from "../../../../test/call.ts";
import { faultyPorts } from "../../../../test/doubles/ports.ts";

const host = new Hono();
host.get("/", (c) => c.text("the app"));
host.route("/memory", mounted(faultyPorts));
host.route("/of/:team/memory", mounted(faultyPorts));
host.notFound((c) => c.text("the app's own 404", 404));

const fetch = (request: Request) => host.fetch(request, env, createExecutionContext());
const get = async (path: string) => fetch(new Request(`https://app.test${path}`));

it.each(["/memory", "/of/red/memory"])("serves the whole API under %s", async (base) => {
  const user = newUser();
  const client = cairn({ url: `https://app.test${base}`, fetch, token: await token(user) });
  const { id } = await client.memories.remember(user, { text: "I moved to Lisbon" });
  expect((await client.recall(user, { query: "where do I live?" })).hits[0]?.id).toBe(id);
  const thread = await client.threads.create(user);
  await client.threads.append(thread.id, [{ role: "user", content: "hi" }]);
  const said: unknown[] = [];
  for await (const { message } of client.threads.stream(thread.id)) said.push(message.content);
  expect(said).toEqual(["hi"]);
  for (const key of [".", "a/b", "100%"]) {
    await client.kv.set(user, key, key);
    expect(await client.kv.get(user, key)).toBe(key);
  }
  expect((await client.tenant.openapi()).servers).toEqual([{ url: base }]);
});

it.each(["/memory", "/memory/"])("leads %s to its reference, whose links stay below it", async (front) => {
  const answer = await get(front);
  expect([answer.status, answer.headers.get("Location")]).toEqual([302, "/memory/docs"]);
  const page = await get("/memory/docs");
  expect(page.headers.get("Content-Security-Policy")).toContain("script-src 'self'");
  const links = [...(await page.text()).matchAll(/(?:href|src)="([^":]+)"/g)].map(
    ([, link = ""]) => new URL(link, "https://app.test/memory/docs").pathname,
  );
  expect(links).toHaveLength(3);
  for (const link of links) expect((await get(link)).status).toBe(200);
  expect(await (await get("/memory/docs/start.js")).text()).toContain('url: "openapi.json"');
});

it("serves its console, whose files stay below it", async () => {
  const page = await get("/memory/console");
  expect(page.headers.get("Content-Security-Policy")).toContain("style-src 'self';");
  const links = [...(await page.text()).matchAll(/(?:href|src)="(\.[^"]+)"/g)].map(
    ([, link = ""]) => new URL(link, "https://app.test/memory/console").pathname,
  );
  expect(links).toHaveLength(2);
  for (const link of links) expect((await get(link)).status).toBe(200);
  expect(await (await get("/memory/console/settings.json")).json()).toMatchObject({
    version: expect.any(String),
  });
});

it("gives the console no cookie, which the pages of the Worker around it would share", async () => {
  const own = new Hono().route("/", mounted(faultyPorts));
  const bindings = { ...env, CONSOLE_COOKIE: "on" };
  const headers = { Authorization: `Bearer ${await token(newUser())}`, "Sec-Fetch-Site": "same-origin" };
  const put = (path: string) => new Request(`https://app.test${path}`, { method: "PUT", headers });
  for (const answer of [
    await host.fetch(put("/memory/console/session"), bindings, createExecutionContext()),
    await own.fetch(put("/console/session"), bindings, createExecutionContext()),
    // A router that is not Hono's takes its path away.
    await cairnWorker.fetch(put("/console/session"), bindings, createExecutionContext()),
  ]) {
    expect([answer.status, answer.headers.get("Set-Cookie")]).toEqual([404, null]);
    expect(await answer.json()).toMatchObject({ error: { code: "route_not_found" } });
  }
});

it("answers for what is its own, and for nothing else", async () => {
  expect(await (await get("/")).text()).toBe("the app");
  expect(await (await get("/memories")).text()).toBe("the app's own 404");
  expect((await get("/memory/health")).status).toBe(200);
  expect(await (await get("/memory/nothing")).json()).toMatchObject({ error: { code: "route_not_found" } });
  expect((await get("/memory/v1/threads")).status).toBe(401);
});

it("names in the package's types every binding that there is, and no other", () => {
  // What only the tests bind (test/env.d.ts) is none of Cairn's.
  type Tested = "MIGRATIONS" | "TEST_RATE" | "CAIRN_HISTORIES" | "CAIRN_FIRST_SEED" | "CAIRN_SEED";
  // Each deployment has its own number of databases: no type of the Worker has them. The Worker to mount keeps no cookie.
  type Named = Exclude<keyof CairnBindings, `FACTS_${number}`>;
  expectTypeOf<Named>().toEqualTypeOf<Exclude<keyof Bindings, Tested | "CONSOLE_COOKIE">>();
});
