// The lines of the Dockerfile, one after another, in a folder instead of an image. No image is built here.
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { freePort } from "../../packages/dev/local-server.ts";
import { start } from "./run.ts";

const root = join(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "cairn-dockerfile-"));
const workdir = join(folder, "cairn");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Line = { instruction: string; text: string };
const lines: Line[] = readFileSync(join(root, "Dockerfile"), "utf8")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"))
  .map((line) => {
    const [, instruction = "", text = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
    return { instruction, text };
  });
const all = (instruction: string): string[] =>
  lines.filter((line) => line.instruction === instruction).map(({ text }) => text);

it("has only instructions that this test knows, and the Node that is developed with", () => {
  const known = ["FROM", "ENV", "WORKDIR", "RUN", "USER", "COPY", "VOLUME", "EXPOSE", "CMD"];
  expect(lines.filter(({ instruction }) => !known.includes(instruction))).toEqual([]);
  expect(all("FROM")).toEqual([`node:${readFileSync(join(root, ".nvmrc"), "utf8").trim()}`]);
  expect(all("USER")).toEqual(["1000:1000"]);
  expect(all("COPY")).toEqual(["--chown=1000:1000 . ."]);
});

it("leaves secrets and what is built out of the image", () => {
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8").trim().split("\n");
  expect(ignored).toEqual(expect.arrayContaining([".dev.vars", ".git", ".wrangler", "tenants"]));
});

it("installs and serves Cairn, for callers outside of the container", async () => {
  // In the image the volume is /state.
  const state = join(folder, "state");
  const port = await freePort();
  const pairs = all("ENV")
    .flatMap((text) => text.split(" "))
    .map((pair) => pair.split("="));
  const variables: Record<string, string> = Object.fromEntries(pairs);
  expect(all("VOLUME")).toEqual([variables.CAIRN_STATE]);
  const env = { ...process.env, ...variables, CAIRN_STATE: state, PORT: String(port) };
  mkdirSync(workdir);
  for (const { instruction, text } of lines) {
    // Root alone may give files to another user.
    const line = text.replaceAll("1000:1000", `${process.getuid?.()}:${process.getgid?.()}`);
    if (instruction === "RUN") execFileSync("bash", ["-euc", line], { cwd: workdir, env, stdio: "pipe" });
    if (instruction === "COPY") {
      const files = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
        cwd: root,
      });
      for (const file of files
        .toString()
        .split("\0")
        .filter((name) => name !== "" && existsSync(join(root, name))))
        cpSync(join(root, file), join(workdir, file), { recursive: true });
    }
  }
  expect(lstatSync(join(workdir, ".dev.vars")).isSymbolicLink()).toBe(true);
  const [command = "[]"] = all("CMD");
  // `start` runs in the root.
  const shell = `cd '${workdir}' && exec ${(JSON.parse(command) as string[]).join(" ")}`;
  const server = start(["bash", "-c", shell], { ...variables, CAIRN_STATE: state, PORT: String(port) });
  try {
    await expect.poll(() => server.output.stdout + server.output.stderr).toContain("export CAIRN_TOKEN=");
    const [, token] = /export CAIRN_TOKEN=(\S+)/.exec(server.output.stdout) ?? [];
    const [address] = execFileSync("hostname", ["-I"], { encoding: "utf8" }).split(" ");
    const call = (path: string, body: object) =>
      fetch(`http://${address?.trim() ?? ""}:${port}/v1/users/alice/${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }).then(async (answer) => answer.json() as Promise<{ hits?: { text: string }[] }>);
    await call("memories", { text: "I moved to Lisbon in March" });
    const { hits = [] } = await call("recall", { query: "where do I live?" });
    expect(hits[0]?.text).toBe("I moved to Lisbon in March");
    // The secret is in the volume, and only its owner reads it.
    expect(statSync(join(state, ".dev.vars")).mode & 0o077).toBe(0);
  } finally {
    server.child.kill("SIGTERM");
    await server.ended;
  }
});
