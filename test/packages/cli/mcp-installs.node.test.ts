// What `npm run mcp` prints, `.mcp.json` and `server.json`: each leads to Cairn, as a client reads it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";

const root = join(import.meta.dirname, "../../..");
const state = mkdtempSync(join(tmpdir(), "cairn-installs-"));
let server: LocalServer;
let token: string;
beforeAll(async () => {
  server = await startLocalServer({ port: await freePort(), state });
  token = await developmentToken("alice");
});
afterAll(async () => {
  await server.stop();
  rmSync(state, { recursive: true, force: true });
});

/** Runs the command as npm does. */
function printed(args: string[], env: Record<string, string> = {}) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(root, "packages/cli/mcp.ts"), ...args],
    { env: { PATH: process.env.PATH, CAIRN_URL: server.url, CAIRN_TOKEN: token, ...env }, encoding: "utf8" },
  );
  return { stdout, stderr, status };
}

/** The names of the tools that a client sees there. */
async function toolsAt({ url, authorization }: { url: string; authorization: string }): Promise<string[]> {
  const answer = await fetch(url, {
    method: "POST",
    headers: {
      Authorization: authorization,
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      // The commands between two calls block this process: the server ends a connection meanwhile, and the next call fails on it.
      Connection: "close",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  return [...text.matchAll(/"name":"(memory_\w+)"/g)].map(([, name = ""]) => name);
}

/** The arguments that a shell gives to a command of this name. */
function argumentsOf(name: string, line: string): string[] {
  const program = `${name}() { printf '%s\\n' "$@"; }\n${line}`;
  const { stdout, status } = spawnSync("bash", ["-euc", program], {
    env: { PATH: process.env.PATH, CAIRN_TOKEN: token },
    encoding: "utf8",
  });
  expect(status).toBe(0);
  return stdout.trimEnd().split("\n");
}

const HttpServer = z.object({
  type: z.literal("http").optional(),
  url: z.string(),
  headers: z.object({ Authorization: z.string() }),
});
const Block = z.object({
  mcpServers: z.object({ cairn: HttpServer }).optional(),
  servers: z.object({ cairn: HttpServer }).optional(),
  inputs: z.array(z.object({ id: z.string(), password: z.literal(true) })).optional(),
});

/** The server of a block, with what the program puts in place of its variables. */
function serverOf(block: string): { url: string; authorization: string } {
  const { mcpServers, servers, inputs = [] } = Block.parse(JSON.parse(block));
  const { url, headers } = (mcpServers ?? servers)?.cairn ?? { url: "", headers: { Authorization: "" } };
  const known = ["${env:CAIRN_TOKEN}", ...inputs.map(({ id }) => `\${input:${id}}`)];
  return {
    url,
    authorization: known.reduce((text, name) => text.replace(name, token), headers.Authorization),
  };
}

describe("npm run mcp", () => {
  it.each([[[]], [["--inline"]]])("prints a command for Claude Code %j", async (options) => {
    const args = argumentsOf("claude", printed(["--client", "claude", ...options]).stdout);
    expect(args.slice(0, 7)).toEqual(["mcp", "add", "--transport", "http", "--scope", "user", "cairn"]);
    const [, , , , , , , url = "", flag, header = ""] = args;
    expect(flag).toBe("--header");
    const authorization = header.replace("Authorization: ", "");
    expect(await toolsAt({ url, authorization })).toContain("memory_recall");
  });

  it("prints a command for Codex, which reads the variable itself", async () => {
    const args = argumentsOf("codex", printed(["--client", "codex"]).stdout);
    const [, , , , url = "", ...rest] = args;
    expect([args.slice(0, 4), rest]).toEqual([
      ["mcp", "add", "cairn", "--url"],
      ["--bearer-token-env-var", "CAIRN_TOKEN"],
    ]);
    expect(await toolsAt({ url, authorization: `Bearer ${token}` })).toContain("memory_recall");
  });

  it.each([
    ["cursor", []],
    ["cursor", ["--inline"]],
    ["vscode", []],
    ["vscode", ["--inline"]],
  ])("prints a block for %s %j", async (client, options) => {
    const { stdout } = printed(["--client", client, ...options]);
    expect(stdout.includes(token)).toBe(options.length > 0);
    expect(await toolsAt(serverOf(stdout))).toContain("memory_recall");
  });

  it.each(["claude", "codex", "cursor", "vscode"])(
    "prints the address alone for %s where its user signs in",
    (client) => {
      const { stdout, stderr, status } = printed(["--client", client, "--sign-in"], { CAIRN_TOKEN: "" });
      expect([status, stderr.includes("TOKEN")]).toEqual([0, false]);
      expect(stdout).toContain(`${server.url}/mcp`);
      expect(stdout).not.toMatch(/authorization|token/i);
    },
  );

  it("keeps a path of the address, and what a shell would read in it", () => {
    const url = "https://cairn.example.com/a$(b)'c;d/";
    const [, , , , , , , given] = argumentsOf("claude", printed(["--client", "claude", "--url", url]).stdout);
    expect(given).toBe("https://cairn.example.com/a$(b)'c;d/mcp");
  });

  it.each([
    [["--client", "emacs"], {}, "'emacs' is no client"],
    [[], {}, "--client"],
    [["--client", "toString"], {}, "no client"],
    [["--client", "claude"], { CAIRN_URL: "" }, "CAIRN_URL"],
    [["--client", "claude", "--url", "javascript:alert(1)"], {}, "--url"],
    [["--client", "claude", "--url", "127.0.0.1:8787"], {}, "--url"],
    [["--client", "claude", "--inline"], { CAIRN_TOKEN: "" }, "--inline"],
    [["--client", "claude", "--inline"], { CAIRN_TOKEN: '"; rm -rf /; "' }, "--inline"],
    [["--client", "codex", "--inline"], {}, "--inline"],
    [["--client", "claude", "--inline", "--sign-in"], {}, "--sign-in"],
    [["--client", "claude", "--wide"], {}, "--wide"],
  ])("refuses %j %j", (args, env, reason) => {
    const { status, stdout, stderr } = printed(args, env);
    expect([status, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(reason);
    expect(stderr).toContain("usage:");
  });

  it("says where a token comes from if there is none, and how it is called", () => {
    const { status, stderr } = printed(["--client", "claude"], { CAIRN_TOKEN: "" });
    expect([status, stderr]).toEqual([0, expect.stringContaining("npm run token -- --user ID")]);
    expect(printed(["--help"])).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("usage: npm run mcp"),
    });
  });
});

it(".mcp.json leads to the Cairn of the environment, or to that of npm start", async () => {
  const text = readFileSync(join(root, ".mcp.json"), "utf8");
  // As Claude Code reads it: a variable, or what stands behind `:-`.
  const read = (env: Record<string, string>) =>
    serverOf(
      text.replaceAll(
        /\$\{(\w+):-([^}]*)\}/g,
        (_, name: string, otherwise: string) => env[name] ?? otherwise,
      ),
    );
  const found = read({ CAIRN_URL: server.url, CAIRN_TOKEN: token });
  expect(await toolsAt(found)).toContain("memory_recall");
  expect(read({})).toEqual({ url: "http://127.0.0.1:8787/mcp", authorization: "Bearer " });
});

it("server.json names this repository, its version and the way to a deployment", () => {
  const Input = z.strictObject({
    description: z.string().max(100),
    isRequired: z.boolean(),
    isSecret: z.boolean().optional(),
  });
  // The parts of the registry's schema that are used here.
  const About = z.strictObject({
    $schema: z.literal("https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"),
    name: z.string().regex(/^[\w.-]+\/[\w.-]+$/),
    title: z.string().max(100),
    description: z.string().max(100),
    version: z.string(),
    repository: z.strictObject({ url: z.string(), source: z.literal("github") }),
    remotes: z.tuple([
      z.strictObject({
        type: z.literal("streamable-http"),
        url: z.string(),
        variables: z.record(z.string(), Input),
        headers: z.tuple([Input.extend({ name: z.literal("Authorization"), isSecret: z.literal(true) })]),
      }),
    ]),
  });
  const about = About.parse(JSON.parse(readFileSync(join(root, "server.json"), "utf8")));
  const { repository } = JSON.parse(readFileSync(join(root, "packages/client/package.json"), "utf8"));
  const [, path = ""] = /github\.com\/(.+)\.git$/.exec(String(repository.url)) ?? [];
  expect(about.repository.url).toBe(`https://github.com/${path}`);
  expect(about.name).toBe(`io.github.${path}`);
  const [{ url, variables }] = about.remotes;
  expect([...url.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)).toEqual(Object.keys(variables));
  expect(url.replace("{host}", "cairn.example.workers.dev")).toBe("https://cairn.example.workers.dev/mcp");
});
