// The packed command, installed into an empty folder: the project that it makes runs, and answers.
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../../../dev/local-server.ts";

const root = join(import.meta.dirname, "../../../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-create-"));
const packed = join(root, "build/pack");
/** Cairn comes from the tarballs, and wrangler from npm's cache, if it is there. */
const npm = { npm_config_prefer_offline: "true", npm_config_update_notifier: "false" };

function create(args: string[], more: Record<string, string> = {}) {
  const env = { ...process.env, ...npm, ...more };
  const command = join(folder, "node_modules/.bin/create");
  return spawnSync(command, args, { cwd: folder, env, encoding: "utf8" });
}

beforeAll(() => {
  execFileSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", "packages/dev/pack.ts", "--built"],
    { cwd: root },
  );
  const [tarball = ""] = globSync("edgecairn-create-*.tgz", { cwd: packed });
  writeFileSync(join(folder, "package.json"), `{ "private": true }`);
  const args = ["install", "--offline", "--no-audit", "--no-fund", join(packed, tarball)];
  execFileSync("npm", args, { cwd: folder });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("npm create @edgecairn", () => {
  it("makes a chat that runs offline, remembers in another conversation, and stops", async () => {
    const made = create(["my-chat", "--packages", packed]);
    expect(made.status, made.stderr).toBe(0);
    expect(made.stdout).toContain("npm start");
    const project = join(folder, "my-chat");
    const read = (file: string) => readFileSync(join(project, file), "utf8");
    expect(JSON.parse(read("package.json"))).toMatchObject({ name: "my-chat" });
    expect(read("wrangler.toml")).toContain('service = "my-chat-memory"');
    expect(read("cairn/wrangler.toml")).toContain('name = "my-chat-memory"');
    expect(read(".gitignore")).toContain(".dev.vars");
    // The example itself: all its files, and of the rest none.
    for (const file of ["src/chat.ts", "src/index.ts", "public/app.js", "start.js"])
      expect(read(file)).toBe(readFileSync(join(root, "examples/edge-chat", file), "utf8"));

    const port = await freePort();
    const env = { ...process.env, PORT: String(port), MODEL: undefined, CAIRN_STATE: join(folder, "state") };
    const server = spawn(process.execPath, ["start.js"], { cwd: project, env, stdio: "ignore" });
    const ended = new Promise((resolve) => void server.once("exit", resolve));
    try {
      const url = `http://127.0.0.1:${port}/api/`;
      let cookie = "";
      const opened = async () => {
        const response = await fetch(`${url}threads`).catch(() => null);
        cookie = response?.headers.get("Set-Cookie")?.split(";")[0] ?? "";
        return cookie;
      };
      await expect.poll(opened, { interval: 500 }).toMatch(/^visitor=/);
      const say = async (text: string) => {
        const options = { method: "POST", headers: { Cookie: cookie }, body: JSON.stringify({ text }) };
        return (await fetch(`${url}chat`, options)).text();
      };
      await say("I live in Lisbon");
      await expect.poll(() => say("Where do I live?")).toContain("lives in Lisbon");
      expect(existsSync(join(project, "cairn/.dev.vars"))).toBe(true);
    } finally {
      server.kill("SIGTERM");
      await ended;
    }
  });

  it("leaves a folder that exists as it is", () => {
    mkdirSync(join(folder, "mine"));
    writeFileSync(join(folder, "mine/notes.txt"), "mine");
    const { status, stderr } = create(["mine", "--packages", packed]);
    expect(status).toBe(1);
    expect(stderr).toContain("exists already");
    expect(readdirSync(join(folder, "mine"))).toEqual(["notes.txt"]);
  });

  it.each([
    [["My Chat"], "cannot be the name of a Worker"],
    [["../up"], "cannot be the name of a Worker"],
    [["a".repeat(56)], "cannot be the name of a Worker"],
    [[], "NAME is needed"],
    [["one", "two"], "NAME is needed"],
    [["one", "--color"], "--color"],
    [["one", "--packages", "nowhere"], "index.json"],
  ])("refuses %j, says why, and makes nothing", (args, why) => {
    const before = readdirSync(folder);
    const { status, stderr } = create(args);
    expect(status).toBe(2);
    expect(stderr).toContain(why);
    expect(readdirSync(folder)).toEqual(before);
  });

  it("says without a network that the folder is complete, and how to go on", () => {
    const { status, stderr } = create(["away"], {
      npm_config_registry: "http://127.0.0.1:9",
      npm_config_fetch_retries: "0",
      npm_config_cache: join(folder, "empty-cache"),
    });
    expect(status).toBe(1);
    expect(stderr).toContain("cd away && npm install");
    expect(readdirSync(join(folder, "away"))).toEqual(
      expect.arrayContaining(["src", "cairn", "package.json"]),
    );
  });

  it("makes nothing where it cannot write", () => {
    const template = join(folder, "node_modules/@edgecairn/create/dist/template");
    cpSync(template, join(folder, "kept"), { recursive: true });
    rmSync(join(template, "cairn"), { recursive: true });
    try {
      const before = readdirSync(folder);
      const { status, stderr } = create(["broken", "--packages", packed]);
      expect(status).toBe(1);
      expect(stderr).toContain("could not be made");
      expect(readdirSync(folder)).toEqual(before);
    } finally {
      cpSync(join(folder, "kept"), template, { recursive: true });
    }
  });
});
