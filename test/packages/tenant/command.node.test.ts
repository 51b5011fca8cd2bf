// `npm run tenant` as a person runs it, with a stand-in for wrangler on the PATH; and the real wrangler on what it writes.
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
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { run, start } from "../../node/run.ts";
import { type Cloudflare, emptyAccount } from "./cloudflare.ts";
import { root } from "./desk.ts";

const home = mkdtempSync(join(tmpdir(), "cairn-command-"));
const [bin, tenants, accountFile] = [join(home, "bin"), join(home, "tenants"), join(home, "account.json")];
mkdirSync(bin);
writeFileSync(
  join(bin, "wrangler"),
  `#!/bin/sh\nexec "${process.execPath}" --disable-warning=ExperimentalWarning "${join(import.meta.dirname, "standin.ts")}" "$@"\n`,
);
chmodSync(join(bin, "wrangler"), 0o755);

const ACCOUNT = "0123456789abcdef0123456789abcdef";
const DATABASE = "12345678-1234-4000-8000-123456789012";
/** As much of Cloudflare's API as is asked by no stand-in. */
const api = createServer((request, response) => {
  const answer = (status: number, result: unknown, errors: object[] = []) => {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ success: status === 200, result, errors, messages: [] }));
  };
  if (request.url?.endsWith("/workers/subdomain") !== true)
    answer(200, { uuid: DATABASE, name: "cairn-acme", created_in_region: "WEUR" });
  else if (account().subdomain === null) answer(404, null, [{ code: 10007, message: "not found" }]);
  else answer(200, { subdomain: account().subdomain });
});
let apiUrl = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => void api.listen(0, "127.0.0.1", resolve));
  const address = api.address();
  apiUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/client/v4`;
});
afterAll(() => void api.close());

beforeEach(() => {
  rmSync(tenants, { recursive: true, force: true });
  setAccount(emptyAccount());
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

const setAccount = (account: object) => writeFileSync(accountFile, JSON.stringify(account));
const account = () => JSON.parse(readFileSync(accountFile, "utf8")) as Cloudflare;

async function tenant(args: string[], env: Record<string, string> = {}, script = "packages/tenant/main.ts") {
  const path = `${bin}:${process.env.PATH}`;
  const running = run(script, args, {
    PATH: path,
    CAIRN_TENANTS: tenants,
    CAIRN_TEST_ACCOUNT: accountFile,
    CAIRN_SECRET: "",
    CI: "",
    CLOUDFLARE_API_BASE_URL: apiUrl,
    CLOUDFLARE_ACCOUNT_ID: ACCOUNT,
    ...env,
  });
  const code = await running.ended;
  return { code, ...running.output };
}

const FULL = ["--shards", "3", "--vectorize", "--jurisdiction", "eu", "--model", "@cf/baai/bge-m3"];

it("makes, lists, upgrades and deletes a tenant", async () => {
  const made = await tenant(["create", "acme", ...FULL]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  expect(made.stdout).toContain("acme is up at https://cairn-acme.example.workers.dev");
  expect(made.stdout).toMatch(/export CAIRN_TOKEN=[\w-]+\.[\w-]+\.[\w-]+\n/);
  const secret = readFileSync(join(tenants, "acme.secret"), "utf8").trim();
  expect(statSync(join(tenants, "acme.secret")).mode & 0o777).toBe(0o600);
  expect(account().workers["cairn-acme"]?.secret).toBe(secret);
  // Neither on the screen nor in the list of processes.
  expect(made.stdout).not.toContain(secret);
  expect(account().calls.join("\n")).not.toContain(secret);

  expect((await tenant(["list"])).stdout).toMatch(/acme +cairn-acme +3 +eu/);
  expect((await tenant(["upgrade", "--all"])).stdout).toContain("Worker cairn-acme deployed");
  const unasked = await tenant(["delete", "acme"]);
  expect([unasked.code, unasked.stderr]).toEqual([2, "Without a terminal, say so with --yes NAME.\n"]);
  expect((await tenant(["delete", "acme", "--yes", "acmee"])).code).toBe(2);
  expect(account().databases).toHaveLength(4);
  expect((await tenant(["delete", "acme", "--yes", "acme"])).code).toBe(0);
  expect(account()).toMatchObject({ databases: [], indexes: {}, workers: {} });
  expect(readdirSync(tenants)).toEqual([]);
});

it("makes nothing in an account without a workers.dev subdomain, as the API says", async () => {
  setAccount({ ...emptyAccount(), subdomain: null });
  const { code, stdout, stderr } = await tenant(["create", "acme"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`https://dash.cloudflare.com/${ACCOUNT}/workers/onboarding`);
  expect(account().databases).toEqual([]);
  expect(existsSync(tenants)).toBe(false);
});

it("reads the id of a database out of what the real wrangler says when it makes one", async () => {
  const config = join(home, "wrangler.toml");
  writeFileSync(config, 'name = "cairn-acme"\n');
  const path = `${join(root, "node_modules/.bin")}:${process.env.PATH}`;
  const script = `
    import { Account } from "./packages/tenant/account.ts";
    import { RealWrangler } from "./packages/tenant/wrangler.ts";
    const account = new Account(new RealWrangler(${JSON.stringify(home)}, "${ACCOUNT}"), ${JSON.stringify(config)});
    console.log(await account.createDatabase("cairn-acme", { jurisdiction: null }));`;
  const real = start(
    [process.execPath, "--disable-warning=ExperimentalWarning", "--input-type=module", "-e", script],
    {
      PATH: path,
      CLOUDFLARE_API_BASE_URL: apiUrl,
      CLOUDFLARE_API_TOKEN: "a token of the test",
    },
  );
  expect({ code: await real.ended, ...real.output }).toEqual({
    code: 0,
    stdout: `${DATABASE}\n`,
    stderr: "",
  });
});

it("goes on after it was killed, and makes nothing twice", async () => {
  await tenant(["create", "acme"]);
  const { calls, made } = account();
  // tenants.test.ts lets every step fail. Here the command dies: after it made the database, migrated it, deployed.
  for (const step of ["d1 create", "d1 migrations", "deploy"]) {
    const killAt = calls.findIndex((call) => call.startsWith(step)) + 1;
    rmSync(tenants, { recursive: true, force: true });
    setAccount({ ...emptyAccount(), killAt });
    expect((await tenant(["create", "acme"])).code).toBeNull();
    const { killAt: _, ...left } = account() as Cloudflare & { killAt: number };
    setAccount(left);
    expect((await tenant(["create", "acme"])).code, `killed at ${step}`).toBe(0);
    expect(account().made).toEqual(made);
    const secret = readFileSync(join(tenants, "acme.secret"), "utf8").trim();
    expect(account().workers["cairn-acme"]?.secret).toBe(secret);
  }
});

it("says what failed, without a stack, and leaves the exit code", async () => {
  setAccount({ ...emptyAccount(), fail: { at: 5, done: false } });
  const { code, stderr } = await tenant(["create", "acme"]);
  expect(code).toBe(1);
  expect(stderr).toContain("wrangler d1 migrations apply DB");
  expect(stderr).not.toMatch(/\n\s+at /);
});

it.each([
  [[], "Do what?"],
  [["make", "acme"], "'make' is no command"],
  [["create"], "Which tenant?"],
  [["create", "Acme"], "no name for a tenant"],
  [["create", "acme", "bob"], "Name one tenant"],
  [["create", "acme", "--shards", "0"], "--shards is a whole number from 1 to 100"],
  [["create", "acme", "--jurisdiction", "moon"], "--jurisdiction is one of eu"],
  [["create", "acme", "--model", "@cf/none"], "is no model that is known"],
  [["create", "acme", "--model", "foo", "--dry-run"], "is no model that is known"],
  [["create", "acme", "--account", "123"], "32 hex digits"],
  [["create", "acme", "--account", '../x"', "--dry-run"], "32 hex digits"],
  [["list", "acme"], "list takes no name"],
  [["create", "acme", "--all"], "--all does not go with create"],
  [["create", "acme", "--nonsense"], "--nonsense"],
  [["upgrade"], "Which tenants?"],
  [["upgrade", "nobody"], "There are no tenants here"],
  [["delete", "acme", "--yes", "acme"], "There is no"],
])("refuses %j, touches nothing, and says why", async (args, reason) => {
  const { code, stdout, stderr } = await tenant(args);
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(reason);
  expect(stderr).not.toMatch(/\n\s+at /);
  expect(account().calls).toEqual([]);
  expect(existsSync(tenants)).toBe(false);
});

it("does nothing where npm kept an option to itself", async () => {
  for (const [name, value] of [
    ["dry_run", "true"],
    ["account", ACCOUNT],
    ["cpu_ms", "60000"],
    ["vectorize", ""],
  ] as const) {
    const env = { [`npm_config_${name}`]: value };
    const option = `--${name.replace("_", "-")}`;
    const made = await tenant(["create", "acme"], env);
    expect([made.code, made.stdout]).toEqual([2, ""]);
    expect(made.stderr).toContain(`npm kept ${option} to itself`);
    const deployed = await tenant([], env, "packages/tenant/deploy-main.ts");
    expect([deployed.code, deployed.stdout]).toEqual([2, ""]);
    expect(deployed.stderr).toContain(`npm kept ${option} to itself`);
  }
  expect(account().calls).toEqual([]);
});

it("shows what it would do, with no account and no wrangler, and does nothing", async () => {
  const { code, stdout } = await tenant(["create", "acme", ...FULL, "--dry-run"], {
    CAIRN_TEST_ACCOUNT: "/none",
  });
  expect(code).toBe(0);
  expect(stdout).toContain("npx wrangler d1 create cairn-acme-facts-2 --jurisdiction eu");
  expect(stdout).toMatch(/npx wrangler deploy .* --secrets-file <the secret>/);
  expect(stdout).toContain('binding = "FACTS_2"');
  expect(existsSync(tenants)).toBe(false);
  const short = await tenant(["create", "acme", "--dry-run"], { CAIRN_SECRET: "short" });
  expect([short.code, short.stdout]).toEqual([2, ""]);
  expect(short.stderr).toContain("shorter than 32 bytes");
});

it("shows what it would do of a tenant that is there: its file as it would become, or why not", async () => {
  await tenant(["create", "acme", "--shards", "2"]);
  const [file, { calls }] = [readFileSync(join(tenants, "acme.toml"), "utf8"), account()];
  const dry = (...options: string[]) =>
    tenant(["create", "acme", "--dry-run", ...options], { CAIRN_TEST_ACCOUNT: "/none" });
  const same = await dry();
  expect(same).toMatchObject({ code: 0, stderr: "" });
  expect(same.stdout).toContain("acme.toml, which stays as it is:");
  expect(same.stdout).toContain(file);
  expect(same.stdout).not.toMatch(/d1 create|secrets-file/);
  const changed = await dry("--vectorize", "--model", "@cf/baai/bge-m3");
  expect(changed.code).toBe(0);
  expect(changed.stdout).toContain("vectorize create cairn-acme --dimensions=1024");
  expect(changed.stdout).toContain('EMBEDDINGS_MODEL = "@cf/baai/bge-m3"');
  expect(changed.stdout).toContain(`database_id = "${account().databases[2]?.uuid}"`);
  const refused = await dry("--shards", "3");
  expect([refused.code, refused.stdout]).toEqual([2, ""]);
  expect(refused.stderr).toContain("has 2 shard(s), and keeps them");
  expect([readFileSync(join(tenants, "acme.toml"), "utf8"), account().calls]).toEqual([file, calls]);
});

it("shows what is still to be made of a tenant whose creation was stopped", async () => {
  setAccount({ ...emptyAccount(), fail: { at: 7, done: false } });
  expect((await tenant(["create", "acme", "--shards", "2", "--vectorize"])).code).toBe(1);
  const { code, stdout } = await tenant(["create", "acme", "--dry-run"]);
  expect(code).toBe(0);
  expect(stdout).not.toContain("d1 create cairn-acme --");
  for (const step of ["d1 create cairn-acme-facts-1", "vectorize create cairn-acme", "secrets-file"])
    expect(stdout).toContain(step);
});

it.each([
  ["everything", FULL, ["VECTORIZE", "AI", "FACTS_0", "FACTS_2", 'JURISDICTION ("eu")']],
  ["Workers AI", [], ["AI", 'EMBEDDINGS_MODEL ("@cf/baai/bge-base-en-v1.5")']],
  [
    "the embedded model and shards",
    ["--model", "static2-en-256", "--shards", "2"],
    ["AI", "FACTS_0", "FACTS_1"],
  ],
  ["the embedded model and Vectorize", ["--model", "static2-en-256", "--vectorize"], ["AI", "VECTORIZE"]],
])("writes a file that the real wrangler deploys, with %s", async (_, options, bindings) => {
  // Beside the others, as its paths start there.
  const directory = mkdtempSync(join(root, "tenants-test-"));
  try {
    expect((await tenant(["create", "acme", ...options], { CAIRN_TENANTS: directory })).code).toBe(0);
    const shown = execFileSync(
      process.execPath,
      [
        join(root, "node_modules/wrangler/bin/wrangler.js"),
        "deploy",
        "--dry-run",
        "-c",
        join(directory, "acme.toml"),
        "--outdir",
        join(home, "out"),
      ],
      {
        cwd: root,
        env: { ...process.env, WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" },
        stdio: ["ignore", "pipe", "pipe"],
      },
    ).toString();
    for (const binding of ["USER_MEMORY", "PROMPT_CACHE", "DB", "ASSETS", ...bindings])
      expect(shown).toContain(`env.${binding}`);
    const optional = ["VECTORIZE", "FACTS_0", "JURISDICTION"];
    const unwanted = optional.filter((name) => !bindings.some((binding) => binding.startsWith(name)));
    for (const binding of unwanted) expect(shown).not.toContain(`env.${binding} `);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
