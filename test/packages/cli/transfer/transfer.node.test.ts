// `npm run export` and `npm run import`, as a tenant's owner runs them against a real server.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { developmentSecret } from "../../../../packages/dev/development-secret.ts";
import { freePort, type LocalServer, startLocalServer } from "../../../../packages/dev/local-server.ts";
import { run } from "../../../node/run.ts";
import { mintToken } from "../../../../src/domain/token.ts";
import { fromNow } from "../../../from-now.ts";

const state = mkdtempSync(join(tmpdir(), "cairn-transfer-"));
let server: LocalServer;
let token = "";

beforeAll(async () => {
  server = await startLocalServer({ port: await freePort(), state });
  token = await mintToken(
    developmentSecret(),
    { user: "*", scope: ["read", "write", "admin"] },
    fromNow(-60_000),
  );
});
afterAll(async () => {
  await server.stop();
  rmSync(state, { recursive: true, force: true });
});

const call = async (path: string, method = "GET", json?: unknown) =>
  (await fetch(server.url + path, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  }).then(async (answer) => JSON.parse((await answer.text()) || "null"))) as { id: string };

async function command(script: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  const { output, ended, child } = run(script, [...args, "--url", server.url, "--token", token], {});
  await ended;
  return { code: child.exitCode, text: output.stdout + output.stderr };
}

it("takes every user out, erases them, and brings them back as they were", async () => {
  for (const user of ["alice", "bob"]) {
    await call(`/v1/users/${user}/memories`, "POST", { text: `${user} plays the cello` });
    const { id } = await call(`/v1/users/${user}/threads`, "POST", {});
    // More than one request of an import takes.
    for (let i = 0; i < 3; i++)
      await call(`/v1/threads/${id}/messages`, "POST", {
        messages: Array.from({ length: 2 }, () => ({ role: "user", content: "x".repeat(7 * 1024 * 1024) })),
      });
  }
  const [out, again] = [join(state, "out"), join(state, "again")];
  expect(await command("packages/cli/export.ts", "--all", "--out", out)).toMatchObject({
    code: 0,
    text: expect.stringContaining("2 users exported"),
  });
  expect((await command("packages/cli/export.ts", "--all", "--out", out)).text).toContain("2 were there");
  for (const user of ["alice", "bob"]) await call(`/v1/users/${user}`, "DELETE");
  const back = await command("packages/cli/import.ts", "--dir", out);
  expect(back).toMatchObject({ code: 0, text: expect.stringContaining("6 messages imported") });
  await command("packages/cli/export.ts", "--user", "alice", "--user", "bob", "--out", again);
  expect(readdirSync(again)).toEqual(readdirSync(out));
  for (const file of readdirSync(out))
    expect(readFileSync(join(again, file)).equals(readFileSync(join(out, file)))).toBe(true);
});

it("leaves the files of a backup as they are and says how old they are, but for one that is not whole", async () => {
  const out = join(state, "night", "2026-11-22");
  for (const user of ["gina", "hans"]) await call(`/v1/users/${user}/kv/a`, "PUT", "a");
  const ask = () => command("packages/cli/export.ts", "--user", "gina", "--user", "hans", "--out", out);
  expect((await ask()).text).toBe(`2 users exported to ${out}\n`);
  const [kept = "", cut = ""] = readdirSync(out).map((name) => join(out, name));
  const whole = readFileSync(cut, "utf8");
  writeFileSync(cut, whole.slice(0, whole.indexOf("\n") + 1));
  utimesSync(kept, 1_800_000_000, 1_800_000_000);
  const { code, text } = await ask();
  expect(code).toBe(0);
  expect(text).toContain("1 user exported");
  expect(text).toContain("1 were there");
  expect(text).toContain("is from 2027-01-15T08:00:00.000Z");
  expect(text).toContain("use a new one");
  expect(readFileSync(cut, "utf8")).toBe(whole);
});

it("sends nothing of a file that is not whole", async () => {
  const out = join(state, "whole");
  for (const key of ["a", "b"]) await call(`/v1/users/carol/kv/${key}`, "PUT", key);
  await command("packages/cli/export.ts", "--user", "carol", "--out", out);
  const [name = ""] = readdirSync(out);
  const lines = readFileSync(join(out, name), "utf8").split("\n");
  const [header, , b, end] = lines;
  const file = join(state, "hole.ndjson");
  for (const [broken, reason] of [
    [[header, b, end, ""], "it has 3 lines, of 4"],
    [lines.slice(0, 3), "its last line is missing"],
  ] as const) {
    writeFileSync(file, broken.join("\n"));
    const { code, text } = await command("packages/cli/import.ts", "--file", file, "--user", "dave");
    expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
  }
  expect(await call("/v1/users/dave/kv")).toMatchObject({ items: [] });
});

it("goes on past a file that cannot be taken in, names it, and ends with 1", async () => {
  const dir = join(state, "mixed");
  await call("/v1/users/erin/kv/a", "PUT", "a");
  await command("packages/cli/export.ts", "--user", "erin", "--out", dir);
  writeFileSync(join(dir, "-.ndjson"), "no export");
  await call("/v1/users/erin", "DELETE");
  const { code, text } = await command("packages/cli/import.ts", "--dir", dir);
  expect(code).toBe(1);
  expect(text).toContain("-.ndjson is no export of Cairn");
  expect(text).toContain("1 entry imported");
  expect(text).toContain("1 of 2 files");
});

it("counts in words, and ends with 1 and the reason where something was left out", async () => {
  const dir = join(state, "left-out");
  await call("/v1/users/iris/memories", "POST", { text: "I play the cello" });
  const { id } = await call("/v1/users/iris/threads", "POST", {});
  await call(`/v1/threads/${id}/messages`, "POST", { messages: [{ role: "user", content: "hello" }] });
  await command("packages/cli/export.ts", "--user", "iris", "--out", dir);
  const again = await command("packages/cli/import.ts", "--dir", dir);
  const there = "1 thread there already, 1 message there already, 1 version of a memory there already";
  expect([again.code, again.text]).toEqual([0, expect.stringContaining(there)]);
  await call(`/v1/threads/${id}/messages/1`, "DELETE");
  const { code, text } = await command("packages/cli/import.ts", "--dir", dir);
  expect([code, text]).toEqual([1, expect.stringContaining("1 message left out: a thread that was here")]);
});

it("names the file and the line that Cairn refuses", async () => {
  const dir = join(state, "twice");
  for (const key of ["a", "b"]) await call(`/v1/users/jane/kv/${key}`, "PUT", key);
  await command("packages/cli/export.ts", "--user", "jane", "--out", dir);
  const file = join(dir, readdirSync(dir)[0] ?? "");
  const lines = readFileSync(file, "utf8").split("\n");
  writeFileSync(file, lines.with(2, lines[1] ?? "").join("\n"));
  const { code, text } = await command("packages/cli/import.ts", "--file", file);
  expect([code, text]).toEqual([1, expect.stringContaining(`${file}: POST`)]);
  expect(text).toContain("line[3].key");
});

it("writes for the eyes of its user only, and nothing of a user of whom nothing is kept", async () => {
  const out = join(state, "private");
  await call("/v1/users/frank/kv/a", "PUT", "a");
  const { code, text } = await command(
    "packages/cli/export.ts",
    "--user",
    "nobody",
    "--user",
    "frank",
    "--out",
    out,
  );
  expect([code, text]).toEqual([1, expect.stringContaining("Nothing is kept of nobody")]);
  const names = readdirSync(out);
  expect(names).toHaveLength(1);
  const modes = [out, ...names.map((name) => join(out, name))].map((path) => statSync(path).mode & 0o777);
  expect(modes).toEqual([0o700, 0o600]);
});

it.each([
  ["packages/cli/export.ts", ["--all"]],
  ["packages/cli/import.ts", ["--file", "package.json"]],
])("%s says at once that it cannot connect", async (script, args) => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const { output, ended } = run(script, [...args, "--url", url, "--token", token]);
  expect(await ended).toBe(1);
  expect(output.stderr).toContain(`Cannot connect to ${url}`);
  expect(output.stderr.trimEnd().split("\n")).toHaveLength(1);
});

it.each([
  ["packages/cli/import.ts", ["--dir", "there/is/none"], "there/is/none is not a readable folder"],
  ["packages/cli/import.ts", ["--file", "none.ndjson"], "none.ndjson cannot be read"],
  ["packages/cli/export.ts", ["--all", "--out", "package.json"], "package.json cannot be made a directory"],
])("%s %j says in a sentence what is missing", async (script, args, reason) => {
  const { code, text } = await command(script, ...args);
  expect([code, text]).toEqual([1, expect.stringContaining(reason)]);
  expect(text.trimEnd().split("\n")).toHaveLength(1);
});

it.each([
  ["packages/cli/export.ts", ["--out", "x"], "either --all or --user"],
  ["packages/cli/export.ts", ["--nonsense"], "usage"],
  ["packages/cli/import.ts", [], "--file or --dir"],
  ["packages/cli/import.ts", ["--file", "package.json"], "no export of Cairn"],
])("%s says what is wrong with %s", async (script, args, reason) => {
  const { code, text } = await command(script, ...args);
  expect(code).not.toBe(0);
  expect(text).toContain(reason);
});
