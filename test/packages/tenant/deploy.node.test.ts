// `npm run deploy` over a double of the account: every step fails once, before and after it is done.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterEach, describe, expect, it } from "vitest";
import { deploy as run, type DeployOptions } from "../../../packages/tenant/deploy.ts";
import { dryRun } from "../../../packages/tenant/dry-run.ts";
import { LAST, ONE } from "../../../packages/tenant/names.ts";
import { Stopped } from "../../../packages/tenant/stopped.ts";
import { fromNow } from "../../from-now.ts";
import { verifyOwn } from "../../../src/worker/auth/verify-own.ts";
import { type Cloudflare, emptyAccount } from "./cloudflare.ts";
import { newDesk, removeDirectories, root, type TestDesk } from "./desk.ts";

afterEach(removeDirectories);

const deploy = (desk: TestDesk, options: Partial<DeployOptions> = {}) =>
  run(desk, { adopt: false, token: false, ...options });
const text = ({ said }: TestDesk) => said.join("\n");
const stateOf = ({ databases, indexes, workers, made }: Cloudflare) => ({
  databases,
  indexes,
  made,
  workers: Object.keys(workers),
});
/** The message with which it stops, or null. */
const failureOf = (work: Promise<unknown>): Promise<string | null> =>
  work.then(
    () => null,
    (reason: unknown) => (reason instanceof Stopped ? reason.message : `no Stopped: ${String(reason)}`),
  );
async function stopped(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Stopped)) throw new Error("it was to stop", { cause: error });
  return error.message;
}
/** Another machine with the same account: nothing of the first one's files is there. */
const elsewhere = (desk: TestDesk) => newDesk(desk.account);

describe("npm run deploy", () => {
  it("makes the database, migrates it, deploys wrangler.toml as it is with a secret, and shows its health", async () => {
    const desk = newDesk();
    await deploy(desk);
    const { account } = desk;
    expect(account.databases).toMatchObject([{ name: "cairn", migrated: true }]);
    const id = account.databases[0]?.uuid;
    const base = parse(readFileSync(join(root, "wrangler.toml"), "utf8"));
    expect(parse(account.workers.cairn?.config ?? "")).toEqual({
      ...base,
      d1_databases: [
        { binding: "DB", database_name: "cairn", database_id: id, migrations_dir: "migrations" },
      ],
    });
    const steps = account.calls.map((call) => call.split(" -c ")[0]);
    expect(steps).toEqual([
      "d1 list --json",
      "secret list --name cairn --format json",
      "d1 list --json",
      "d1 create cairn --update-config=false",
      "d1 migrations apply DB --remote",
      expect.stringContaining("FROM deployment"),
      "secret list --name cairn --format json",
      "deploy",
    ]);
    expect(text(desk)).toContain('https://cairn.example.workers.dev/health: {"status":"ok"}');
    // No configuration of its own: but the secret, for its owner alone, and nowhere on the screen.
    const last = account.workers.cairn?.config;
    expect(desk.stored()).toEqual({ [`${LAST}.toml`]: last, [`${ONE}.secret`]: "secret" });
    const secret = desk.files.readSecret(ONE) ?? "";
    expect(account.workers.cairn?.secret).toBe(secret);
    expect(statSync(join(root, desk.files.secretPathOf(ONE))).mode & 0o777).toBe(0o600);
    expect(text(desk) + account.calls.join("\n")).not.toContain(secret);
    const token = /TOKEN=(\S+)/.exec(text(desk))?.[1] ?? "";
    expect(await verifyOwn(token, [secret], fromNow(60_000))).toMatchObject({ ok: true });
  });

  it("changes nothing when it runs again, and prints no token unless it is asked to", async () => {
    const desk = newDesk();
    await deploy(desk);
    const [before, secret] = [structuredClone(stateOf(desk.account)), desk.account.workers.cairn?.secret];
    desk.said.length = 0;
    await deploy(desk);
    expect(stateOf(desk.account)).toEqual(before);
    expect(desk.account.workers.cairn?.secret).toBe(secret);
    expect(text(desk)).not.toContain("TOKEN=");
    await deploy(desk, { token: true });
    expect(text(desk)).toContain("TOKEN=");
  });

  it.each<[string, Partial<DeployOptions>]>([
    ["plain", {}],
    ["with an index", { vectorize: true, location: "weur" }],
  ])("goes on after any step of it failed, done or not (%s), to the same end", async (_, options) => {
    const undisturbed = newDesk();
    await deploy(undisturbed, options);
    const { calls } = undisturbed.account;
    for (const done of [false, true])
      for (let step = 1; step <= calls.length; step++) {
        const desk = newDesk();
        desk.failAt(step, done);
        // A database whose answer was lost is found in the same run.
        const healed = done && (calls[step - 1] ?? "").startsWith("d1 create");
        const reason = await failureOf(deploy(desk, options));
        expect(reason ?? "healed", `step ${step}`).toContain(healed ? "healed" : "wrangler");
        await deploy(desk, options);
        expect(stateOf(desk.account), `step ${step}`).toEqual(stateOf(undisturbed.account));
        expect(desk.account.workers.cairn?.secret).toBe(desk.files.readSecret(ONE));
      }
  });

  it("makes one database and one secret where two run at once", async () => {
    const desk = newDesk();
    await Promise.all([deploy(desk), deploy(desk)]);
    expect(desk.account.made).toMatchObject({ "database cairn": 1, "worker cairn": 1 });
    expect(desk.account.workers.cairn?.secret).toBe(desk.files.readSecret(ONE));
  });

  it("says to the one of two machines at once whose secret was replaced", async () => {
    const desk = newDesk();
    const { health } = desk;
    // The other machine saw no secret either, and deploys right after this one.
    const meanwhile = async (url: string) => {
      desk.account.workers.cairn = { secret: "that of another machine, of 32 bytes", config: "" };
      return health(url);
    };
    expect(await stopped(deploy({ ...desk, health: meanwhile }))).toMatch(
      /refuses a token of the secret.*another machine/,
    );
    expect(text(desk)).not.toContain("TOKEN=");
  });

  it("keeps the secret of a deployment on a machine that does not know it, and says so", async () => {
    const desk = newDesk();
    await deploy(desk);
    const secret = desk.account.workers.cairn?.secret;
    const other = elsewhere(desk);
    await deploy(other);
    expect(desk.account.workers.cairn?.secret).toBe(secret);
    expect(other.files.readSecret(ONE)).toBeNull();
    expect(text(other)).toContain("Its secret is not known here");
    expect(desk.account.made).toMatchObject({ secret: 1, "database cairn": 1 });
  });

  it("makes no secret where its file ends with the run, as in CI, and says what to do", async () => {
    const desk = newDesk();
    await deploy({ ...desk, passing: true });
    expect(desk.account.workers.cairn?.secret).toBeNull();
    expect([desk.files.readSecret(ONE), desk.waits]).toEqual([null, []]);
    expect(text(desk)).toMatch(/refuses every call.*> cairn\.secret && .*put CAIRN_SECRET --name cairn </);
    await deploy({ ...desk, passing: true, secret: "a secret of the test, of 32 bytes or more" });
    expect(desk.account.workers.cairn?.secret).toBe("a secret of the test, of 32 bytes or more");
    expect(text(desk)).not.toContain("TOKEN=");
  });

  it("creates the database where it is asked to, and says that one which is there does not move", async () => {
    const desk = newDesk();
    await deploy(desk, { location: "weur" });
    expect(desk.account.databases).toMatchObject([{ name: "cairn", location: "weur" }]);
    expect(Object.keys(desk.stored())).toEqual([`${LAST}.toml`, `${ONE}.secret`]);
    await deploy(desk, { location: "apac" });
    expect(text(desk)).toContain("never moves: --location changes nothing of it");
  });

  it("writes flags into a file of their own, which later runs deploy, and leaves wrangler.toml alone", async () => {
    const desk = newDesk();
    await deploy(desk, { vectorize: true, model: "@cf/baai/bge-m3", cpuMs: 60_000 });
    const file = desk.files.read(ONE) ?? "";
    expect(parse(file)).toMatchObject({
      name: "cairn",
      main: "src/index.ts",
      vars: { EMBEDDINGS_MODEL: "@cf/baai/bge-m3" },
      vectorize: [{ binding: "VECTORIZE", index_name: "cairn" }],
      limits: { cpu_ms: 60_000 },
      ratelimits: [{ namespace_id: "1001" }, { namespace_id: "1002" }, { namespace_id: "1003" }],
    });
    expect(desk.account.indexes.cairn).toMatchObject({ dimensions: 1024 });
    expect(desk.account.workers.cairn?.config).toBe(file);
    await deploy(desk);
    expect(desk.files.read(ONE)).toBe(file);
    await deploy(desk, { vectorize: false, model: "static2-en-256" });
    const back = parse(desk.files.read(ONE) ?? "");
    expect(back).not.toHaveProperty("vectorize");
    expect(back).toMatchObject({ vars: { EMBEDDINGS_MODEL: "static2-en-256" } });
    expect(readFileSync(join(root, ".gitignore"), "utf8")).toContain("wrangler.deploy.*");
    expect(existsSync(join(root, `${ONE}.toml`))).toBe(false);
  });

  it("names the variables of that file that differ from wrangler.toml", async () => {
    const desk = newDesk();
    await deploy(desk, { cpuMs: 60_000 });
    expect(text(desk)).not.toContain("variables otherwise");
    const base = desk.base
      .replace("[vars]", '[vars]\nLLM_MODEL = "none"')
      .replace('CORS_ORIGINS = ""', 'CORS_ORIGINS = "*"');
    await deploy({ ...desk, base });
    expect(text(desk)).toContain("sets variables otherwise than wrangler.toml: CORS_ORIGINS");
    expect(text(desk)).not.toContain("LLM_MODEL");
    expect(parse(desk.files.read(ONE) ?? "")).toMatchObject({
      vars: { CORS_ORIGINS: "", LLM_MODEL: "none" },
    });
    // A variable that wrangler.toml has no more stays, and is named.
    await deploy(desk);
    expect(text(desk)).toContain("otherwise than wrangler.toml: LLM_MODEL");
  });

  it("takes the default model in place of one that wrangler.toml names", async () => {
    const desk = newDesk();
    const base = desk.base.replace("[vars]", '[vars]\nEMBEDDINGS_MODEL = "@cf/baai/bge-m3"');
    await deploy({ ...desk, base }, { model: "static2-en-256" });
    expect(parse(desk.files.read(ONE) ?? "")).toMatchObject({
      vars: { EMBEDDINGS_MODEL: "static2-en-256" },
    });
  });

  it("takes the id that wrangler.toml has, as from the deploy button, and makes nothing in its place", async () => {
    const id = "12345678-1234-4000-8000-123456789012";
    const named = (desk: TestDesk) => ({
      ...desk,
      base: desk.base
        .replace('name = "cairn"', 'name = "mine"')
        .replace('database_name = "cairn"', `database_name = "mine"\ndatabase_id = "${id}"`),
    });
    const desk = newDesk();
    expect(await stopped(deploy(named(desk)))).toContain("Nothing is made in its place");
    expect(desk.account.databases).toEqual([]);
  });

  it("refuses a database, and a Worker, of something else", async () => {
    const desk = newDesk();
    desk.account.databases = [{ uuid: "1", name: "cairn", migrated: false, mark: null, tables: ["orders"] }];
    expect(await stopped(deploy(desk))).toMatch(
      /D1 database 'cairn' with tables of something else \(orders\)/,
    );
    desk.account.databases = [];
    const another = { secret: null, config: "another's", database: "1111" };
    desk.account.workers.cairn = another;
    expect(await stopped(deploy(desk))).toMatch(/Worker 'cairn', and no D1 database.*--adopt/);
    expect([desk.account.made, desk.stored()]).toEqual([{}, {}]);
    desk.account.databases = [{ uuid: "1", name: "cairn", migrated: false, mark: null }];
    expect(await stopped(deploy(desk))).toMatch(/Worker 'cairn', and an empty D1 database/);
    desk.account.databases = [
      { uuid: "1", name: "cairn", migrated: false, mark: null, tables: ["deployment", "orders"] },
    ];
    expect(await stopped(deploy(desk))).toMatch(/tables of something else/);
    desk.account.databases = [];
    await deploy(desk, { adopt: true });
    expect(desk.account.databases).toMatchObject([{ name: "cairn", migrated: true }]);
  });

  it("stops in another account, with or without options, and stores none of them", async () => {
    for (const options of [{}, { vectorize: true }]) {
      const desk = newDesk();
      await deploy(desk, options);
      const before = desk.stored();
      const second = emptyAccount();
      const other = { ...newDesk(second), files: desk.files };
      for (const again of [{}, { account: "f".repeat(32) }, options])
        expect(await stopped(deploy(other, again))).toContain("Nothing is made in its place");
      expect([second.made, desk.stored()]).toEqual([{}, before]);
    }
    const named = newDesk();
    await deploy(named, { account: "e".repeat(32) });
    const file = named.files.read(ONE);
    expect(await stopped(deploy(named, { account: "f".repeat(32) }))).toContain("and stay there");
    expect(named.files.read(ONE)).toBe(file);
  });

  it("takes over what wrangler.toml says anew with each run", async () => {
    const desk = newDesk();
    const more = { ...desk, base: desk.base.replace("[vars]", '[vars]\nLLM_MODEL = "none"') };
    await deploy(more);
    expect(desk.account.workers.cairn?.config).toContain("LLM_MODEL");
    await deploy(desk);
    expect(desk.account.workers.cairn?.config).not.toContain("LLM_MODEL");
  });

  it("refuses a secret's file that no Worker would take, before anything is made", async () => {
    for (const kept of ["", "short\n"]) {
      const desk = newDesk();
      writeFileSync(join(root, desk.files.secretPathOf(ONE)), kept);
      expect(await stopped(deploy(desk))).toContain("is shorter than 32 bytes");
      expect(desk.account.calls).toEqual([]);
    }
  });

  it("makes nothing in an account without a workers.dev subdomain, and says where to register one", async () => {
    const desk = newDesk({ ...emptyAccount(), subdomain: null });
    expect(await stopped(deploy(desk))).toMatch(/workers\/onboarding/);
    expect([desk.account.made, desk.account.calls, desk.stored()]).toEqual([{}, [], {}]);
  });

  it.each([
    [
      "d1 create",
      "Authentication error [code: 10000]",
      /needs the permissions that docs\/guides\/deploy\.md lists/,
    ],
    ["deploy", "CPU limits are not supported for the Free plan. [code: 100328]", /leave out --cpu-ms/],
    [
      "deploy",
      "You have exceeded the limit of 5 cron triggers. [code: 10072]",
      /The Worker itself is deployed/,
    ],
    ["deploy", "429 Too Many Requests", /Wait five minutes, and run this again/],
    ["migrations apply", "504 Gateway Timeout", /Run this again: it looks at what is there/],
    ["d1 list", "fetch failed", /Run this again/],
  ])("says what to do where %s answers %s", async (command, message, advice) => {
    const desk = newDesk({ ...emptyAccount(), refuses: { command, message } });
    expect(await stopped(deploy(desk))).toMatch(advice);
    delete desk.account.refuses;
    await deploy(desk);
    expect(desk.account.made).toMatchObject({ "database cairn": 1, "worker cairn": 1 });
  });

  it("waits for a new address, and shows its last answer where it does not come up", async () => {
    const desk = newDesk();
    const answers = [
      () => Promise.reject(new Error("fetch failed", { cause: new Error("getaddrinfo ENOTFOUND") })),
      async () => ({ status: 404, body: "There is nothing here yet" }),
      async () => ({ status: 200, body: '{"status":"ok"}' }),
    ];
    await deploy({
      ...desk,
      health: () => (answers.shift() ?? answers[0])?.() ?? Promise.reject(new Error()),
    });
    expect(desk.waits).toEqual([3_000, 3_000]);
    const ill = { ...desk, health: async () => ({ status: 503, body: '{"status":"down"}' }) };
    expect(await stopped(deploy(ill))).toMatch(
      /does not answer as it should.*503 .*down.*curl .*wrangler tail/s,
    );
  });

  it("shows what it would run, and does nothing", async () => {
    const desk = newDesk();
    await dryRun(desk, { name: ONE, command: "npm run deploy" }, (dry) =>
      run(dry, { adopt: false, token: false, location: "weur" }),
    );
    expect(text(desk)).toMatch(
      /d1 create cairn --location weur.*migrations apply DB.*deploy -c wrangler.toml --secrets-file/s,
    );
    expect(text(desk)).toContain("wrangler.toml is deployed as it is");
    expect([desk.account.calls, desk.stored()]).toEqual([[], {}]);
  });
});
