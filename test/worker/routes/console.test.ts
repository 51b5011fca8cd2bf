// The page of the console, its policy, and who switches it off.
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import { call } from "../../call.ts";
import { realPorts } from "../../doubles/ports.ts";

const logins = {
  JWT_JWKS_URL: "https://login.example/keys",
  JWT_ISSUER: "https://login.example",
  JWT_AUDIENCE: "cairn",
};
const at = async (settings: object, path = "/console/settings.json") => {
  const answer = await createApp(realPorts).request(path, {}, { ...env, ...settings });
  return { status: answer.status, body: await answer.json() };
};
const problemsOf = async (settings: object): Promise<string> => {
  const { body } = await at(settings, "/health");
  return ((body as { problems?: string[] }).problems ?? []).join("; ");
};

it("serves the page and its files to anybody, and lets them load nothing else", async () => {
  const page = await call("/console", { token: null });
  expect(page.status).toBe(200);
  const policy = page.headers.get("Content-Security-Policy");
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'$/,
  );
  expect(policy).not.toContain("unsafe");
  const [, script = ""] = /src="\.\/(console\/[^"]+\.js)"/.exec(page.text) ?? [];
  const [, style = ""] = /href="\.\/(console\/[^"]+\.css)"/.exec(page.text) ?? [];
  expect(page.text).not.toMatch(/<script(?![^>]*src=)|\bon\w+=|style=/);
  for (const [file, type] of [
    [script, "javascript"],
    [style, "css"],
  ] as const) {
    const answer = await call(`/${file}`, { token: null });
    expect([answer.status, answer.headers.get("Content-Type")]).toEqual([200, expect.stringContaining(type)]);
  }
  expect((await call("/console/nothing.js", { token: null })).status).toBe(404);
});

it("weighs at most 150 KB, compressed", async () => {
  const page = await call("/console", { token: null });
  let sum = 0;
  for (const [, file = ""] of page.text.matchAll(/(?:src|href)="\.\/(console\/[^"]+)"/g)) {
    const { text } = await call(`/${file}`, { token: null });
    const compressed = new Response(text).body?.pipeThrough(new CompressionStream("gzip"));
    sum += (await new Response(compressed).arrayBuffer()).byteLength;
  }
  expect(sum).toBeGreaterThan(10_000);
  expect(sum).toBeLessThan(150_000);
});

it("can be switched off, and held to logins", async () => {
  expect(await at({})).toMatchObject({ status: 200, body: { version: expect.any(String) } });
  expect(await at({ CONSOLE: "logins", ...logins })).toMatchObject({
    body: { issuer: "https://login.example" },
  });
  for (const settings of [{ CONSOLE: "off" }, { CONSOLE: "logins" }, { CONSOLE: "of" }])
    for (const path of ["/console", "/console/settings.json", "/console/a.js"])
      expect(await at(settings, path)).toMatchObject({
        status: 404,
        body: { error: { code: "route_not_found" } },
      });
  expect(await problemsOf({ CONSOLE: "off" })).toBe("");
  expect(await problemsOf({ CONSOLE: "logins" })).toContain("no identity provider");
  expect(await problemsOf({ CONSOLE: "of" })).toContain("CONSOLE is of");
});
