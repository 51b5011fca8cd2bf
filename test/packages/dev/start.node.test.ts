import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { developmentSecret } from "../../../packages/dev/development-secret.ts";
import { freePort } from "../../../packages/dev/local-server.ts";
import { holderOf } from "../../../packages/dev/server-address.ts";
import { isAlive, run, type Running, start as startCommand } from "../../node/run.ts";

const state = mkdtempSync(join(tmpdir(), "cairn-test-"));
let server: Running | undefined;

afterEach(async () => {
  server?.child.kill("SIGTERM");
  await server?.ended;
});
afterAll(() => rmSync(state, { recursive: true, force: true }));

type Started = Running & { url: string; token: string; exports: string[]; curls: string[] };

async function start(port: number): Promise<Started> {
  server = run("packages/dev/start.ts", [], { PORT: String(port), CAIRN_STATE: state }, "pipe");
  const { output, child } = server;
  while (!output.stdout.includes('/memories -H "Authorization: Bearer $CAIRN_TOKEN"\n')) {
    if (child.exitCode !== null) throw new Error(`it ended: ${output.stdout}${output.stderr}`);
    await sleep(50);
  }
  const url = /http:\/\/\S+:\d+/.exec(output.stdout)?.[0] ?? "";
  const lines = output.stdout.split("\n");
  const exports = lines.filter((line) => line.startsWith("export "));
  const token = /CAIRN_TOKEN=(\S+)/.exec(output.stdout)?.[1] ?? "";
  return {
    ...server,
    url,
    token,
    exports,
    curls: lines.filter((line) => line.startsWith("curl ")),
  };
}

// The answers of several shapes are read here.
// oxlint-disable typescript/no-explicit-any
const paste = (line: string, { exports }: Started): any =>
  JSON.parse(execFileSync("bash", ["-c", [...exports, line].join("\n")]).toString());

/** The commands of a process group, a line each; empty once it has ended. */
function commandsOf(group: number): string {
  const all = execFileSync("ps", ["-axo", "pgid=,args="]).toString().split("\n");
  return all.filter((line) => Number(line.trim().split(/\s+/)[0]) === group).join("\n");
}

describe("npm start", () => {
  it("serves, prints lines that work when they are pasted, and remembers across a restart", async () => {
    const port = await freePort();
    const statuses: number[] = [];
    const first = await start(port);
    expect(first.url).toBe(`http://127.0.0.1:${port}`);
    expect(first.exports).toEqual([`export CAIRN_URL=${first.url}`, `export CAIRN_TOKEN=${first.token}`]);
    expect(first.curls).toHaveLength(3);
    // Its link works once. Enter prints another, and so does a command.
    const linkIn = (text: string) => text.match(/http:\/\/\S+\/console#code=\S+/g) ?? [];
    first.child.stdin?.write("\n");
    while (linkIn(first.output.stdout).length < 2) await sleep(50);
    const command = run("packages/cli/token.ts", ["--link"], { CAIRN_STATE: state });
    expect(await command.ended).toBe(0);
    const links = [...linkIn(first.output.stdout), ...linkIn(command.output.stdout)];
    expect(new Set(links).size).toBe(3);
    expect(links.filter((link) => link.startsWith(`${first.url}/console#`))).toHaveLength(3);
    const redeem = async (link: string) =>
      (
        await fetch(`${first.url}/console/session`, {
          method: "POST",
          headers: { "Content-Type": "application/json" },
          body: JSON.stringify({ code: link.split("=")[1] }),
        })
      ).status;
    for (const link of [...links, ...links]) statuses.push(await redeem(link));
    expect(statuses).toEqual([200, 200, 200, 410, 410, 410]);
    const [remember = "", recall = "", list = ""] = first.curls;
    const { id, text } = paste(remember, first);
    expect(paste(recall, first).hits[0]).toMatchObject({ id, text });
    expect(paste(list, first).items).toHaveLength(1);
    const headers = { Authorization: `Bearer ${first.token}`, "Content-Type": "application/json" };
    const post = async (path: string, body: unknown): Promise<any> =>
      (await fetch(first.url + path, { method: "POST", headers, body: JSON.stringify(body) })).json();
    const thread = await post("/v1/users/alice/threads", { title: "kept" });
    await post(`/v1/threads/${thread.id}/messages`, {
      messages: [{ role: "user", content: "see you after the restart" }],
    });

    const written = readdirSync(state, { recursive: true, encoding: "utf8" }).filter((name) =>
      statSync(join(state, name)).isFile(),
    );
    expect(written.length).toBeGreaterThan(0);
    expect(written.filter((name) => (statSync(join(state, name)).mode & 0o077) !== 0)).toEqual([]);
    expect(statSync(join(state, "v3")).mode & 0o777).toBe(0o700);

    first.child.kill("SIGINT");
    expect(await first.ended).toBe(0);
    expect(isAlive(first)).toBe(false);
    // Nothing that a newcomer would have to understand: no warning, no stack.
    expect(first.output.stderr).toBe("");
    expect(first.output.stdout).not.toMatch(/warn|error|deprecat|\n\s+at /i);

    const second = await start(port);
    const get = async (path: string): Promise<any> => (await fetch(second.url + path, { headers })).json();
    expect((await get(`/v1/threads/${thread.id}/messages`)).items[0].message.content).toBe(
      "see you after the restart",
    );
    expect(paste(recall, second).hits.map((hit: { id: string }) => hit.id)).toContain(id);
    expect(paste(list, first).items[0].id).toBe(id);
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
    expect(isAlive(second)).toBe(false);
  });

  it.each([
    ["with a migration that is not here any more", "user-memory 1 0123456789abcdef"],
    ["without a record of its migrations", null],
  ])("refuses a state %s, and leaves it as it is", async (_, migrations) => {
    const older = join(mkdtempSync(join(state, "older-")), "state");
    mkdirSync(join(older, "v3/d1"), { recursive: true });
    if (migrations !== null) writeFileSync(join(older, "migrations"), migrations);
    const refused = run("packages/dev/start.ts", [], { PORT: String(await freePort()), CAIRN_STATE: older });
    expect(await refused.ended).toBe(1);
    expect(refused.output.stderr).toContain(`The state in ${older} has other tables`);
    expect(refused.output.stderr.indexOf("git worktree add")).toBeLessThan(
      refused.output.stderr.indexOf(`mv ${older} `),
    );
    expect(readdirSync(join(older, "v3/d1"))).toEqual([]);
  });

  it.each([
    ["holds its folder", ""],
    ["sets up its database", "local-database.ts"],
    ["starts its server", "wrangler.js dev"],
  ])("leaves nothing behind when it is interrupted once it %s", async (_, command) => {
    rmSync(join(state, "server.json"), { force: true });
    // A database that is set up already needs no process for that.
    if (command.includes("database")) rmSync(join(state, "v3/d1"), { recursive: true, force: true });
    const port = await freePort();
    const starting = run("packages/dev/start.ts", [], { PORT: String(port), CAIRN_STATE: state });
    await expect.poll(() => holderOf(state)).not.toBeNull();
    const keeper = holderOf(state)?.pid ?? 0;
    await expect.poll(() => commandsOf(keeper)).toContain(command);
    starting.child.kill("SIGINT");
    // Without a code, the signal ended it before it could look for one.
    expect([0, 130, null]).toContain(await starting.ended);
    // The keeper leads the group of all that serves.
    await expect.poll(() => commandsOf(keeper)).toBe("");
    await expect(fetch(`http://127.0.0.1:${port}/health`)).rejects.toThrow("fetch failed");
  });

  it("leaves nothing behind when npm itself is ended", async () => {
    const port = await freePort();
    const npm = startCommand(["npm", "start"], { PORT: String(port), CAIRN_STATE: state });
    while (!npm.output.stdout.includes("export CAIRN_TOKEN=")) await sleep(100);
    process.kill(npm.child.pid ?? 0, "SIGTERM");
    await npm.ended;
    for (let waited = 0; isAlive(npm) && waited < 10_000; waited += 100) await sleep(100);
    expect(isAlive(npm)).toBe(false);
  });

  it("says so when the port is taken, and names another", async () => {
    const taken = createServer();
    const port = await freePort();
    await new Promise<void>((resolve) => void taken.listen(port, "127.0.0.1", resolve));
    const running = run("packages/dev/start.ts", [], { PORT: String(port), CAIRN_STATE: state });
    expect(await running.ended).toBe(1);
    const [, other] =
      /^Port \d+ is taken by another program\. Choose another one: PORT=(\d+) npm start\n$/.exec(
        running.output.stderr,
      ) ?? [];
    expect(Number(other)).toBeGreaterThan(port);
    taken.close();
  });

  it("refuses an option that it does not have, and says which it has", async () => {
    const running = run("packages/dev/start.ts", ["--port"], {});
    expect(await running.ended).toBe(1);
    expect(running.output.stderr).toContain("no option '--port'. It has --demo");
  });

  it("refuses a PORT that is none", async () => {
    const running = run("packages/dev/start.ts", [], { PORT: "http" });
    expect(await running.ended).toBe(1);
    expect(running.output.stderr).toContain("PORT must be a number");
  });

  it("refuses a CAIRN_HOST that is neither loopback nor all addresses", async () => {
    const running = run("packages/dev/start.ts", [], { CAIRN_HOST: "localhost" });
    expect(await running.ended).toBe(1);
    expect(running.output.stderr).toContain("CAIRN_HOST must be 127.0.0.1");
  });

  it.each([
    ["that lacks a secret", "JWT_ISSUER=x"],
    ["that has one", "CAIRN_SECRET=0123456789abcdef0123456789abcdef"],
  ])("lets nobody else read the secret in a .dev.vars %s and was readable", (_, text) => {
    const file = join(mkdtempSync(join(state, "vars-")), ".dev.vars");
    writeFileSync(file, text);
    chmodSync(file, 0o644);
    const secret = developmentSecret(file);
    expect(readFileSync(file, "utf8")).toContain(`CAIRN_SECRET=${secret}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("keeps the development secret out of git", () => {
    const root = join(import.meta.dirname, "../../..");
    expect(existsSync(join(root, ".dev.vars"))).toBe(true);
    expect(readFileSync(join(root, ".gitignore"), "utf8").split("\n")).toContain(".dev.vars");
  });
});

it("keeps what npm installs for an example out of git", () => {
  const ignored = readFileSync(join(import.meta.dirname, "../../../.gitignore"), "utf8").split("\n");
  expect(ignored).toContain("examples/*/package-lock.json");
});

describe("npm run token", () => {
  const claims = (token: string) =>
    JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString());

  it("mints a token that reads, writes and caches unless asked otherwise", async () => {
    const running = run("packages/cli/token.ts", ["--user", "alice"]);
    expect(await running.ended).toBe(0);
    expect(claims(running.output.stdout.trim()).scope).toBe("read write cache");
  });

  it("mints a token of the user, scope and time asked for", async () => {
    const running = run("packages/cli/token.ts", ["--user", "alice", "--scope", "read,write", "--ttl", "2h"]);
    expect(await running.ended).toBe(0);
    const { sub, scope, iat, exp } = claims(running.output.stdout.trim());
    expect({ sub, scope, seconds: exp - iat }).toEqual({ sub: "alice", scope: "read write", seconds: 7200 });
  });

  it.each([
    [[], "--user"],
    [["--user", "."], "--user"],
    [["--user", "a", "--scope", "reed"], "'reed'"],
    [["--user", "a", "--ttl", "1 week"], "'1 week'"],
    [["--user", "a", "--ttl", "0h"], "'0h'"],
    [["--user", "a", "--ttl", "36525d"], "100 years"],
    [["--nonsense"], "--nonsense"],
  ])("refuses %j and shows how it is used", async (args, named) => {
    const running = run("packages/cli/token.ts", args);
    expect(await running.ended).toBe(2);
    expect(running.output.stderr).toContain(named);
    expect(running.output.stderr).toContain("usage: npm run token");
  });

  it("refuses a secret that is too short to sign with", async () => {
    const running = run("packages/cli/token.ts", ["--user", "a"], { CAIRN_SECRET: "short" });
    expect(await running.ended).toBe(2);
    expect(running.output.stderr).toContain("32 bytes");
  });
});

describe("npm run demo", () => {
  it("starts its own Cairn, plays the example, and compares with the floor", async () => {
    const running = run("packages/lab/evals/demo.ts", [], { PORT: String(await freePort()) });
    expect(await running.ended).toBe(0);
    const { stdout, stderr } = running.output;
    expect(stderr).toBe("");
    expect(stdout).toMatch(/remembering the facts\s+█+ (\d+)\/\1/);
    const [ours, floor] = ["Cairn", "plain FTS5"].map((arm) =>
      Number(new RegExp(`${arm}\\s+([\\d.]+) %`).exec(stdout)?.[1]),
    );
    expect(ours).toBeGreaterThan(floor ?? 100);
    // A hit is shown whole, and the one that holds the answer is marked.
    expect(stdout.replaceAll(/\s+/g, " ")).toMatch(/✓ 2 S3:7 Nora: No, .* Saturday the 2nd of May\./);
    expect(isAlive(running)).toBe(false);
  });

  it("leaves neither server nor state behind when it is interrupted", async () => {
    const temporary = mkdtempSync(join(tmpdir(), "cairn-test-"));
    const running = run("packages/lab/evals/demo.ts", [], {
      PORT: String(await freePort()),
      TMPDIR: temporary,
    });
    while (!running.output.stdout.includes("Cairn is up at")) await sleep(50);
    const url = /Cairn is up at (\S+)/.exec(running.output.stdout)?.[1] ?? "";
    running.child.kill("SIGINT");
    expect(await running.ended).toBe(130);
    await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
    expect(readdirSync(temporary)).toEqual([]);
    rmSync(temporary, { recursive: true });
  });

  it.each([
    ["package.json", "is no conversation file"],
    ["README.md", "JSON"],
    ["no/such/file", "no/such/file"],
  ])("says what is wrong with %s, without a stack", async (file, reason) => {
    const running = run("packages/lab/evals/demo.ts", ["--file", file]);
    expect(await running.ended).toBe(2);
    expect(running.output.stderr).toContain(reason);
    expect(running.output.stderr).not.toMatch(/\n\s+at /);
  });
});
