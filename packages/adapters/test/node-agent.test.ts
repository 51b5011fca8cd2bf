// The example of an agent in Node, as it stands, in two processes one after the other.
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, inject, it } from "vitest";
import { clientOf, newUser, tokenOf } from "./cairn.ts";

const adapters = join(import.meta.dirname, "..");
const root = join(adapters, "../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-node-agent-"));
const node = (args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, args, { cwd: folder, env: { ...process.env, ...env } });

beforeAll(async () => {
  cpSync(join(root, "examples/node-agent"), folder, { recursive: true });
  const modules = join(folder, "node_modules");
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(modules);
  symlinkSync(join(adapters, "node_modules/ai"), join(modules, "ai"));
  // As `npm run build` left it.
  symlinkSync(join(root, "packages/client"), join(modules, "edgecairn"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("remembers across two runs what it was told in the first", async () => {
  const user = newUser();
  const { url } = inject("cairn");
  const env = { CAIRN_URL: url, CAIRN_TOKEN: await tokenOf(user), CAIRN_USER: user, AI_GATEWAY_API_KEY: "" };
  const say = async (...words: string[]) => (await node(["agent.js", ...words], env)).stdout.trim();

  expect(await say("Where do I live?")).toBe("I do not know that yet.");
  expect(await say("I live in Lisbon")).toBe("I will remember that.");
  expect(await say("Where do I live?")).toBe("I remember: user lives in Lisbon");
  const { threads, memories } = await clientOf(user);
  expect((await threads.list(user, { agent: "node-agent" })).items).toMatchObject([{ length: 8 }]);
  expect((await memories.list(user)).items).toMatchObject([{ text: "user lives in Lisbon" }]);
});

it("answers with what it was told last, after the quick start's own fact of where the user lives", async () => {
  const user = newUser();
  const { memories } = await clientOf(user);
  const page = readFileSync(join(root, "docs/start/facts.md"), "utf8");
  const [given = ""] = /\{"subject": [^}]+\}/.exec(page) ?? [];
  const fact = JSON.parse(given) as { subject: string; predicate: string; object: string };
  expect(fact.predicate).toBe("lives in");
  await memories.remember(user, fact);

  const { url } = inject("cairn");
  const env = { CAIRN_URL: url, CAIRN_TOKEN: await tokenOf(user), CAIRN_USER: user, AI_GATEWAY_API_KEY: "" };
  const say = async (...words: string[]) => (await node(["agent.js", ...words], env)).stdout.trim();
  expect(await say("I live in Lisbon")).toBe("I will remember that.");
  expect(await say("Where do I live?")).toBe("I remember: user lives in Lisbon");
  expect((await memories.list(user)).items).toMatchObject([{ text: "user lives in Lisbon" }]);
});

it("says that a fact waits for review, and does not promise to remember it", async () => {
  const user = newUser();
  const { memories } = await clientOf(user);
  await memories.remember(user, { subject: "user", predicate: "lives in", object: "Porto" });
  const { url } = inject("cairn");
  const env = { CAIRN_URL: url, CAIRN_TOKEN: await tokenOf(user), CAIRN_USER: user, AI_GATEWAY_API_KEY: "" };
  const { stdout } = await node(["agent.js", "I live in Lisbon"], env);
  expect(stdout).toContain("Kept for review");
  expect((await memories.list(user)).items).toMatchObject([{ text: "user lives in Porto" }]);
});

it("says what it needs", async () => {
  await expect(node(["agent.js"])).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringContaining("CAIRN_TOKEN"),
  });
});

it("fails where its memory is away, and does not answer without it", async () => {
  const env = { CAIRN_URL: "http://127.0.0.1:9", CAIRN_TOKEN: "t", AI_GATEWAY_API_KEY: "" };
  await expect(node(["agent.js", "Hello"], env)).rejects.toMatchObject({
    stderr: expect.stringContaining("CairnError: network"),
  });
});
