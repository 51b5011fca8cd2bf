// The tenant command over a double of the account: every step fails once, before and after it is done.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse, stringify } from "smol-toml";
import { afterEach, describe, expect, it } from "vitest";
import { verifyOwn } from "../../../src/worker/auth/verify-own.ts";
import { readTenant, renderTenant } from "../../../packages/tenant/config.ts";
import { create, type CreateOptions } from "../../../packages/tenant/create.ts";
import { deleteTenant } from "../../../packages/tenant/delete.ts";
import { list } from "../../../packages/tenant/list.ts";
import { requireName } from "../../../packages/tenant/names.ts";
import { Stopped } from "../../../packages/tenant/stopped.ts";
import { upgrade } from "../../../packages/tenant/upgrade.ts";
import { failure } from "../../../packages/tenant/wrangler.ts";
import { type Cloudflare, emptyAccount, METADATA } from "./cloudflare.ts";
import { newDesk, removeDirectories, root, type TestDesk } from "./desk.ts";
import { fromNow } from "../../from-now.ts";

afterEach(removeDirectories);

const plain: CreateOptions = { name: "acme", vectorize: false, adopt: false };
const full: CreateOptions = {
  ...plain,
  vectorize: true,
  shards: 3,
  jurisdiction: "eu",
  model: "@cf/baai/bge-m3",
};
const yes =
  (name = "acme") =>
  async () =>
    name;
const text = ({ said }: TestDesk) => said.join("\n");
const mark = (account: Cloudflare, as: object) => {
  for (const database of account.databases) database.mark = as;
};

/** The contents of the account, but for how they came there, and for the secret, which is another with every run. */
const stateOf = ({ databases, indexes, workers, made }: Cloudflare) => ({
  databases,
  indexes,
  made,
  workers: Object.fromEntries(
    Object.entries(workers).map(([name, worker]) => [name, { ...worker, secret: worker.secret !== null }]),
  ),
});

/** As it stops: with a message, never with a stack. */
async function stopped(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Stopped)) throw new Error("it was to stop", { cause: error });
  return error.message;
}

/** Counts the commands of a run before the one that has this in it. */
async function callsUntil(part: string): Promise<number> {
  const desk = newDesk();
  await create(desk, full);
  return desk.account.calls.findIndex((call) => call.includes(part));
}

describe("create", () => {
  it("makes all of a tenant, in the order that loses nothing", async () => {
    const desk = newDesk();
    await create(desk, full);
    const { account } = desk;
    expect(
      account.databases.map(({ name, jurisdiction, migrated }) => [name, jurisdiction, migrated]),
    ).toEqual(
      ["cairn-acme", "cairn-acme-facts-0", "cairn-acme-facts-1", "cairn-acme-facts-2"].map((name) => [
        name,
        "eu",
        true,
      ]),
    );
    expect(account.indexes["cairn-acme"]).toEqual({ dimensions: 1024, metric: "cosine", metadata: METADATA });
    expect(account.made).toMatchObject({ secret: 1, "worker cairn-acme": 1 });
    // A vector that is written before the metadata indexes is not found by them.
    const order = ["vectorize create cairn-acme", "create-metadata-index", "migrations apply", "deploy"];
    const firsts = order.map((step) => account.calls.findIndex((call) => call.includes(step)));
    expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
    expect(account.calls.findLastIndex((call) => call.includes("create-metadata-index"))).toBeLessThan(
      account.calls.findIndex((call) => call.startsWith("deploy")),
    );
  });

  it("deploys no Worker before Vectorize lists the metadata indexes, which takes it a minute or more", async () => {
    const desk = newDesk();
    desk.account.metadataLag = 18;
    await create(desk, full);
    expect(desk.waits.length).toBeGreaterThanOrEqual(18);
    expect(new Set(desk.waits)).toEqual(new Set([5_000]));
    expect(desk.account.made).toMatchObject({ "worker cairn-acme": 1, "metadata index user": 1 });
  });

  it("takes a metadata index whose creation answers 504 for made once it is listed", async () => {
    const desk = newDesk();
    Object.assign(desk.account, { metadataLag: 3, timesOut: "create-metadata-index" });
    await create(desk, full);
    expect(desk.account.made).toMatchObject({ "worker cairn-acme": 1, "metadata index model": 1 });
  });

  it("takes a metadata index that exists already and is not listed yet for made", async () => {
    const desk = newDesk();
    // The run that asked for it was stopped right after.
    desk.account.metadataLag = 4;
    const nth = 1 + (await callsUntil("--property-name=kind"));
    desk.failAt(nth, true);
    await stopped(create(desk, full));
    await create(desk, full);
    expect(desk.account.calls.filter((call) => call.includes("--property-name=kind"))).toHaveLength(2);
    expect(desk.account.made).toMatchObject({ "worker cairn-acme": 1, "metadata index kind": 1 });
  });

  it("stops without a Worker where a metadata index never shows, and says so", async () => {
    const desk = newDesk();
    desk.account.metadataLag = 1_000;
    expect(await stopped(create(desk, full))).toMatch(/metadata indexes user, kind, scope, model/);
    expect(desk.waits.reduce((sum, ms) => sum + ms, 0)).toBe(180_000);
    expect(desk.account.workers).toEqual({});
  });

  it("writes a file that says all, the same with every run, and that wrangler can read", async () => {
    const desk = newDesk();
    await create(desk, full);
    const written = desk.files.read("acme") ?? "";
    expect(parse(written)).toMatchObject({
      name: "cairn-acme",
      main: "../src/index.ts",
      vars: { CORS_ORIGINS: "", EMBEDDINGS_MODEL: "@cf/baai/bge-m3", JURISDICTION: "eu" },
      ai: { binding: "AI" },
      vectorize: [{ binding: "VECTORIZE", index_name: "cairn-acme" }],
      triggers: { crons: ["17 * * * *"] },
      // The URL of a call holds a user's id and keys, which logs keep for days.
      observability: { enabled: true, logs: { enabled: true, invocation_logs: false } },
      durable_objects: { bindings: [{ name: "USER_MEMORY" }, { name: "PROMPT_CACHE" }] },
      d1_databases: ["DB", "FACTS_0", "FACTS_1", "FACTS_2"].map((binding, i) => ({
        binding,
        database_id: desk.account.databases[i]?.uuid,
        migrations_dir: "../migrations",
      })),
    });
    const { ratelimits } = parse(written) as { ratelimits: { namespace_id: string }[] };
    expect(ratelimits).toMatchObject([
      { name: "CALLER_RATE", simple: { limit: 300, period: 10 } },
      { name: "USER_RATE", simple: { limit: 1000, period: 10 } },
      { name: "REGISTER_RATE", simple: { limit: 30, period: 60 } },
    ]);
    const tenant = readTenant("acme", { text: written, base: desk.base, path: "acme.toml" });
    expect(renderTenant(tenant, desk.base)).toBe(written);
  });

  it("counts calls in namespaces of the tenant's own, and leaves the rates that its file says", async () => {
    const desk = newDesk();
    const ids = new Set<string>();
    for (const name of ["acme", "acme-2", "bob"]) {
      await create(desk, { ...plain, name });
      const written = parse(desk.files.read(name) ?? "") as { ratelimits: { namespace_id: string }[] };
      for (const { namespace_id: id } of written.ratelimits) ids.add(id);
    }
    expect(ids.size).toBe(9);
    for (const id of ids) expect(Number(id)).toSatisfy((n: number) => n > 0 && n < 2 ** 31);
    const eager = (desk.files.read("bob") ?? "").replace("limit = 300", "limit = 7");
    desk.files.write("bob", eager);
    await upgrade(desk, ["bob"]);
    expect(desk.files.read("bob")).toBe(eager);
  });

  it("keeps all that an operator added to a file, at any depth, and names it", async () => {
    const desk = newDesk();
    await create(desk, full);
    // A table of any shape.
    // oxlint-disable-next-line typescript/no-explicit-any
    const file = parse(desk.files.read("acme") ?? "") as Record<string, any>;
    file.account_id = "0123";
    file.limits = { cpu_ms: 60_000, subrequests: 100 };
    file.vars.LLM_MODEL = "@cf/meta/llama-3.1-8b-instruct";
    file.ai.staging = true;
    file.observability.logs.destinations = ["axiom"];
    file.observability.traces = { enabled: true, destinations: ["axiom"], head_sampling_rate: 0.1 };
    file.triggers.crons.push("0 3 * * *");
    file.build.cwd = "..";
    file.assets.html_handling = "none";
    file.d1_databases[2].preview_database_id = "a preview";
    file.vectorize[0].remote = true;
    file.vectorize.push({ binding: "OTHER", index_name: "other" });
    Object.assign(desk.account.indexes, { other: desk.account.indexes["cairn-acme"] });
    file.durable_objects.bindings.push({ name: "MINE", class_name: "Mine" });
    file.migrations.push({ tag: "v2", new_sqlite_classes: ["Mine"] });
    file.ratelimits[0].simple.limit = 7;
    file.env = { staging: { name: "staging", vars: { CORS_ORIGINS: "*" } } };
    file.kv_namespaces = [{ binding: "KV", id: "1" }];
    desk.files.write("acme", stringify(file));
    await upgrade(desk, ["acme"]);
    const after = desk.files.read("acme");
    expect(parse(after ?? "")).toEqual(file);
    for (const place of [
      "observability.traces",
      "observability.logs.destinations",
      "triggers.crons",
      "ai.staging",
    ])
      expect(text(desk)).toContain(place);
    await create(desk, { ...plain, cpuMs: 30_000 });
    file.limits.cpu_ms = 30_000;
    expect(parse(desk.files.read("acme") ?? "")).toEqual(file);
    await upgrade(desk, ["acme"]);
    expect(parse(desk.files.read("acme") ?? "")).toEqual(file);
  });

  it("takes from the base what the base has: a changed value of it, and nothing twice", async () => {
    const desk = newDesk();
    await create(desk, plain);
    const before = desk.files.read("acme") ?? "";
    desk.files.write("acme", before.replace("invocation_logs = false", "invocation_logs = true"));
    await upgrade(desk, ["acme"]);
    expect(desk.files.read("acme")).toBe(before);
    expect(text(desk)).not.toContain("keeps beside the base");
    const newer = { ...desk, base: desk.base.replace('tag = "v1"', 'tag = "v1"\nrenamed_classes = []') };
    await upgrade(newer, ["acme"]);
    expect(parse(desk.files.read("acme") ?? "").migrations).toEqual([
      { tag: "v1", renamed_classes: [], new_sqlite_classes: ["UserMemory", "PromptCache"] },
    ]);
  });

  it("sets a secret that nobody sees, keeps it for its owner alone, and prints a token of it", async () => {
    const desk = newDesk();
    await create(desk, plain);
    const secret = desk.files.readSecret("acme") ?? "";
    expect(desk.account.workers["cairn-acme"]?.secret).toBe(secret);
    expect(secret.length).toBeGreaterThanOrEqual(64);
    expect(statSync(join(root, desk.files.secretPathOf("acme"))).mode & 0o777).toBe(0o600);
    expect(text(desk)).not.toContain(secret);
    expect(desk.account.calls.join("\n")).not.toContain(secret);
    const token = /TOKEN=(\S+)/.exec(text(desk))?.[1] ?? "";
    const verdict = await verifyOwn(token, [secret], fromNow(60_000));
    expect(verdict).toMatchObject({ ok: true, value: { caller: { user: "*" } } });
    expect(text(desk)).toContain("https://cairn-acme.example.workers.dev");
  });

  it("takes the caller's secret, and keeps no file of it", async () => {
    const desk = newDesk();
    const secret = "brought along, and of 32 bytes or more";
    await create({ ...desk, secret }, plain);
    expect(desk.account.workers["cairn-acme"]?.secret).toBe(secret);
    expect(Object.keys(desk.stored())).toEqual(["acme.toml"]);
    expect(await stopped(create({ ...newDesk(), secret: "short" }, plain))).toContain("32 bytes");
  });

  it("prints a token once, and later only where it is asked to", async () => {
    const desk = newDesk();
    await create(desk, plain);
    desk.said.length = 0;
    await create(desk, plain);
    expect(text(desk)).not.toContain("TOKEN=");
    expect(text(desk)).toContain("create acme --token");
    await create(desk, { ...plain, token: true });
    expect(text(desk)).toContain("TOKEN=");
  });

  it("leaves the secret that the Worker has, and says so where it is not known", async () => {
    const desk = newDesk();
    await create({ ...desk, secret: "one that is not kept in a file, at all" }, plain);
    await create(desk, plain);
    expect(desk.account.made.secret).toBe(1);
    expect(text(desk)).toContain("not known here");
    const other = { ...desk, secret: "another one that the Worker does not have" };
    await create(other, { ...plain, token: true });
    expect(desk.account.made.secret).toBe(1);
    expect(text(desk)).toContain("If it refuses this token");
  });

  it.each([
    ["the plainest tenant", plain],
    ["one with everything", full],
  ])(
    "goes on after any step of %s failed, done or not, to the same end, and makes nothing twice",
    async (_, wanted) => {
      const undisturbed = newDesk();
      await create(undisturbed, wanted);
      const steps = undisturbed.account.calls.length;
      expect(steps).toBeGreaterThanOrEqual(wanted === full ? 16 : 8);
      for (const done of [false, true])
        for (let step = 1; step <= steps; step++) {
          const desk = newDesk();
          desk.failAt(step, done);
          // A database whose answer was lost is found in the same run.
          const healed = done && (undisturbed.account.calls[step - 1] ?? "").startsWith("d1 create");
          const running = create(desk, wanted);
          const reason = await (healed ? running.then(() => "wrangler") : stopped(running));
          expect(reason, `step ${step}`).toContain("wrangler");
          // As a person would: the same command, or the shorter one.
          await create(desk, step % 2 === 0 && desk.files.read("acme") !== null ? plain : wanted);
          expect(stateOf(desk.account), `step ${step}`).toEqual(stateOf(undisturbed.account));
          expect(desk.stored()["acme.toml"]).toBe(undisturbed.stored()["acme.toml"]);
          expect(desk.files.readSecret("acme")).toBe(desk.account.workers["cairn-acme"]?.secret);
        }
    },
  );

  it("makes nothing in an account without a workers.dev subdomain, and says where to register one", async () => {
    const desk = newDesk({ ...emptyAccount(), subdomain: null });
    const message = await stopped(create(desk, full));
    expect(message).toContain("no workers.dev subdomain");
    expect(message).toMatch(/https:\/\/dash\.cloudflare\.com\/[0-9a-f]{32}\/workers\/onboarding/);
    expect([desk.account.databases, desk.account.indexes, desk.stored()]).toEqual([[], {}, {}]);
    desk.account.subdomain = "example";
    await create(desk, full);
    expect(Object.keys(desk.account.workers)).toEqual(["cairn-acme"]);
    // One that has routes of its own is not deployed there.
    const file = desk.files.read("acme") ?? "";
    desk.files.write("acme", `${file}\n[[routes]]\npattern = "memory.acme.example"\ncustom_domain = true\n`);
    desk.account.subdomain = null;
    await create(desk, plain);
  });

  it("goes on, and says so, where the subdomain cannot be found out", async () => {
    const desk = newDesk();
    desk.wrangler.subdomain = async () => ({ is: "unknown", reason: "the network went away" });
    await create(desk, plain);
    expect(text(desk)).toContain("is not known (the network went away)");
  });

  it("lists the account's databases as often for a hundred shards as for one", async () => {
    const lists = async (shards: number) => {
      const desk = newDesk();
      await create(desk, { ...plain, shards });
      expect(desk.account.databases).toHaveLength(shards === 1 ? 1 : shards + 1);
      return desk.account.calls.filter((call) => call.startsWith("d1 list")).length;
    };
    expect(await lists(100)).toBe(await lists(1));
  });

  it("finds a database's id in the list where wrangler does not say it", async () => {
    const [desk, usual] = [newDesk(), newDesk()];
    const run = desk.wrangler.run.bind(desk.wrangler);
    desk.wrangler.run = async (...given) => ({ ...(await run(...given)), stdout: "done" });
    await create(desk, full);
    await create(usual, full);
    expect(desk.files.read("acme")).toBe(usual.files.read("acme"));
  });

  it("refuses another jurisdiction and another number of shards, and touches nothing", async () => {
    const desk = newDesk();
    await create(desk, full);
    const [before, calls] = [desk.stored(), desk.account.calls.length];
    expect(await stopped(create(desk, { ...full, jurisdiction: "us" }))).toContain(
      "is in eu, and stays there",
    );
    expect(await stopped(create(desk, { ...full, shards: 4 }))).toContain("has 3 shard(s), and keeps them");
    expect(desk.stored()).toEqual(before);
    expect(desk.account.calls).toHaveLength(calls);
  });

  it("adds Vectorize, and changes the model, of a tenant that is there", async () => {
    const desk = newDesk();
    await create(desk, { ...plain, model: "static2-en-256" });
    await create(desk, { ...plain, vectorize: true, model: "@cf/baai/bge-small-en-v1.5" });
    expect(desk.account.indexes["cairn-acme"]).toMatchObject({ dimensions: 384, metadata: METADATA });
    expect(parse(desk.files.read("acme") ?? "")).toMatchObject({ ai: { binding: "AI" } });
  });

  it("refuses a model whose vectors do not fit the index, and says what to do", async () => {
    const desk = newDesk();
    await create(desk, full);
    const message = await stopped(create(desk, { ...full, model: "@cf/baai/bge-base-en-v1.5" }));
    expect(message).toContain("has 1024 dimensions, and @cf/baai/bge-base-en-v1.5 makes 768");
    expect(message).toContain("index_name");
    expect(await stopped(create(newDesk(), { ...plain, model: "@cf/none" }))).toContain("@cf/baai/bge-m3");
  });

  it("does not take what another made for its own, unless it is told to", async () => {
    const first = newDesk();
    await create(first, full);
    const elsewhere = newDesk(first.account);
    const message = await stopped(create(elsewhere, full));
    for (const name of ["D1 cairn-acme-facts-2", "Vectorize cairn-acme", "Worker cairn-acme", "--adopt"])
      expect(message).toContain(name);
    expect(elsewhere.stored()).toEqual({});
    await create(elsewhere, { ...full, adopt: true });
    expect(elsewhere.stored()["acme.toml"]).toBe(first.stored()["acme.toml"]);
    expect(first.account.made.secret).toBe(1);
    // Its database knows its first use.
    mark(first.account, { shards: 3, shard: -1, jurisdiction: "eu" });
    const wrong = newDesk(first.account);
    expect(await stopped(create(wrong, { ...full, jurisdiction: "us", adopt: true }))).toContain(
      "Nothing was deployed",
    );
  });

  it("notes each database as soon as it is made: what is deleted in between is not made anew", async () => {
    const desk = newDesk();
    // The list, the first database; then the second one.
    desk.failAt(6, false);
    await stopped(create(desk, full));
    expect(desk.account.calls.at(-2)).toContain("d1 create cairn-acme-facts-0");
    expect(desk.files.read("acme")).toContain(`database_id = "${desk.account.databases[0]?.uuid}"`);
    desk.account.databases = [];
    expect(await stopped(create(desk, full))).toContain("Nothing is made in its place");
  });

  it("does not make a database anew that its file names and the account has not", async () => {
    const desk = newDesk();
    await create(desk, plain);
    desk.account.databases = [];
    expect(await stopped(create(desk, plain))).toContain("Nothing is made in its place");
    expect(desk.account.databases).toEqual([]);
  });

  it("embeds in the Worker what is held to a jurisdiction, and says what is not held to it", async () => {
    const held = newDesk();
    await create(held, { ...plain, jurisdiction: "eu" });
    expect(parse(held.files.read("acme") ?? "")).toMatchObject({
      vars: { EMBEDDINGS_MODEL: "static2-en-256" },
    });
    // Cloudflare runs a Worker anywhere, whatever the objects are held to.
    expect(text(held)).toContain("Not held to it: the Worker.");
    expect(text(held)).toContain("Regional Services");
    const told = newDesk();
    await create(told, full);
    expect(text(told)).toContain("Not held to it: the Worker, Vectorize, @cf/baai/bge-m3.");
  });
});

it("says how to log in where nobody is, and not what wrangler would do instead", () => {
  const stderr = `ERROR In a non-interactive environment, it's necessary to set a CLOUDFLARE_API_TOKEN environment variable
    for wrangler to work.\n\n  To continue without logging in, rerun this command with \`--temporary\`.`;
  const { message } = failure(["d1", "list"], { ok: false, stdout: "", stderr, entries: "" });
  expect(message).toContain("npx wrangler login");
  expect(message).not.toContain("--temporary");
});

it("names the permissions where the token lacks one", () => {
  const stderr = "✘ [ERROR] A request to the Cloudflare API failed.\n  Authentication error [code: 10000]\n";
  const { message } = failure(["d1", "list"], { ok: false, stdout: "", stderr, entries: "" });
  for (const part of [
    "Workers Scripts: Edit",
    "D1: Edit",
    "Vectorize: Edit",
    "docs/guides/deploy.md",
    "code: 10000",
  ])
    expect(message).toContain(part);
});

it.each(["static2-en-256", "mini-en-256"])("deploys %s with an index of its dimensions", async (model) => {
  const desk = newDesk();
  await create(desk, { ...full, model });
  expect(desk.account.indexes["cairn-acme"]).toMatchObject({ dimensions: 256 });
});

describe("upgrade", () => {
  const three = ["acme", "bob", "carol"];
  async function desks(): Promise<TestDesk> {
    const desk = newDesk();
    for (const name of three) await create(desk, { ...full, name });
    desk.account.calls = [];
    return desk;
  }

  it("migrates, then deploys, one tenant after another", async () => {
    const desk = await desks();
    await upgrade(desk, three);
    const steps = desk.account.calls.flatMap(
      (call) => /^(d1 migrations|deploy).* (\S+)\.toml$/.exec(call)?.slice(1) ?? [],
    );
    const names = steps.filter((_, i) => i % 2 === 1).map((path) => path.split("/").at(-1));
    expect(names).toEqual(three.flatMap((name) => Array.from({ length: 5 }, () => name)));
    expect(steps.filter((_, i) => i % 2 === 0).slice(0, 5)).toEqual([
      ...Array.from({ length: 4 }, () => "d1 migrations"),
      "deploy",
    ]);
  });

  it("stops at the first failure, at any step, says what is done, and goes on as it says", async () => {
    const undisturbed = await desks();
    await upgrade(undisturbed, three);
    const each = undisturbed.account.calls.length / 3;
    for (let step = each + 1; step <= 2 * each; step++) {
      const desk = await desks();
      desk.failAt(step, step % 2 === 0);
      const message = await stopped(upgrade(desk, three));
      expect(message).toContain("Stopped at bob. Done: acme.");
      expect(desk.account.calls.join("\n")).not.toContain("carol.toml");
      const command = /upgrade (.*)$/.exec(message)?.[1] ?? "";
      expect(command).toBe("bob carol");
      await upgrade(desk, command.split(" "));
      expect(stateOf(desk.account)).toEqual(stateOf(undisturbed.account));
    }
  });

  it("takes the base as it is by now, and keeps what is the tenant's own", async () => {
    const desk = await desks();
    const own = (desk.files.read("bob") ?? "")
      .replace('CORS_ORIGINS = ""', 'CORS_ORIGINS = "https://bob.example"')
      .concat('\n[[routes]]\npattern = "memory.bob.example"\ncustom_domain = true\n');
    desk.files.write("bob", own);
    const base = desk.base.replace("2026-11-01", "2026-11-15").concat('\n[placement]\nmode = "smart"\n');
    await upgrade({ ...desk, base }, ["bob"]);
    expect(parse(desk.files.read("bob") ?? "")).toMatchObject({
      compatibility_date: "2026-11-15",
      placement: { mode: "smart" },
      vars: { CORS_ORIGINS: "https://bob.example", JURISDICTION: "eu" },
      routes: [{ pattern: "memory.bob.example", custom_domain: true }],
    });
  });

  it.each([
    ["the jurisdiction", 'JURISDICTION = "eu"', 'JURISDICTION = "us"'],
    ["the number of shards", /\[\[d1_databases\]\]\nbinding = "FACTS_2"[^[]*/, ""],
    ["a binding", 'binding = "FACTS_2"', 'binding = "FACTS_3"'],
  ])("refuses a file in which %s was changed, before it deploys", async (_, from, to) => {
    const desk = await desks();
    mark(desk.account, { shards: 3, shard: -1, jurisdiction: "eu" });
    await upgrade(desk, ["acme"]);
    desk.account.calls = [];
    const file = desk.files.read("acme") ?? "";
    desk.files.write("acme", file.replace(from, to));
    expect(await stopped(upgrade(desk, ["acme"]))).toMatch(/Nothing was deployed|d1_databases are DB/);
    expect(desk.account.calls.join("\n")).not.toContain("deploy -c");
  });

  it("refuses a tenant that is not there, or not all made, before it touches any", async () => {
    const desk = await desks();
    expect(await stopped(upgrade(desk, ["acme", "nobody"]))).toContain("Here are: acme, bob, carol");
    expect(desk.account.calls).toEqual([]);
    const half = newDesk();
    half.failAt(8, false);
    await stopped(create(half, full));
    expect(await stopped(upgrade(half, ["acme"]))).toContain("npm run tenant -- create acme");
  });
});

describe("delete", () => {
  it("deletes everything once the name is typed, and nothing else", async () => {
    const desk = newDesk();
    await create(desk, full);
    await create(desk, { ...full, name: "acme-2" });
    expect(await stopped(deleteTenant(desk, "acme", yes("acme ")))).toContain("Nothing was deleted");
    await deleteTenant(desk, "acme", yes());
    const { databases, indexes, workers } = desk.account;
    expect(databases.map(({ name }) => name).every((name) => name.startsWith("cairn-acme-2"))).toBe(true);
    expect(databases).toHaveLength(4);
    expect([Object.keys(indexes), Object.keys(workers)]).toEqual([["cairn-acme-2"], ["cairn-acme-2"]]);
    expect(Object.keys(desk.stored())).toEqual(["acme-2.secret", "acme-2.toml"]);
  });

  it("goes on after any step failed, done or not, until nothing is left", async () => {
    const undisturbed = newDesk();
    await create(undisturbed, full);
    const from = undisturbed.account.calls.length;
    await deleteTenant(undisturbed, "acme", yes());
    const steps = undisturbed.account.calls.length - from;
    expect(steps).toBeGreaterThan(8);
    for (const done of [false, true])
      for (let step = 1; step <= steps; step++) {
        const desk = newDesk();
        await create(desk, full);
        desk.failAt(step, done);
        await stopped(deleteTenant(desk, "acme", yes()));
        expect(Object.keys(desk.stored())).toContain("acme.toml");
        await deleteTenant(desk, "acme", yes());
        expect([desk.account.databases, desk.account.indexes, desk.account.workers]).toEqual([[], {}, {}]);
        expect(desk.stored()).toEqual({});
      }
  });

  it("deletes what a create that was stopped anywhere has made", async () => {
    for (let step = 5; step <= 20; step++) {
      const desk = newDesk();
      desk.failAt(step, true);
      const reason: unknown = await create(desk, full).catch((error: unknown) => error);
      expect(reason === undefined || reason instanceof Stopped).toBe(true);
      if (desk.files.read("acme") === null) continue;
      await deleteTenant(desk, "acme", yes());
      expect([desk.account.databases, desk.account.indexes, desk.account.workers]).toEqual([[], {}, {}]);
    }
  });

  it("keeps a tenant's file and secret when logged in to an account that has nothing of it", async () => {
    const desk = newDesk();
    await create(desk, plain);
    const before = desk.stored();
    const right = { ...desk.account };
    Object.assign(desk.account, emptyAccount());
    const message = await stopped(deleteTenant(desk, "acme", yes()));
    expect(message).toContain("Log in to the right one");
    expect(desk.stored()).toEqual(before);
    Object.assign(desk.account, right);
    await deleteTenant(desk, "acme", yes());
    expect([desk.account.databases, desk.stored()]).toEqual([[], {}]);
  });

  it("leaves a database of the same name that is another's", async () => {
    const desk = newDesk();
    await create(desk, plain);
    const [database] = desk.account.databases;
    if (database !== undefined) database.uuid = "00000000-0000-4000-8000-000000000000";
    await deleteTenant(desk, "acme", yes());
    expect(desk.account.databases).toHaveLength(1);
  });
});

it("lists the tenants, and which of them are not all made", async () => {
  const desk = newDesk();
  list(desk);
  expect(text(desk)).toContain("no tenants");
  await create(desk, full);
  desk.failAt(4, false);
  await stopped(create(desk, { ...plain, name: "half" }));
  desk.said.length = 0;
  list(desk);
  expect(desk.said).toHaveLength(3);
  expect(desk.said[1]).toMatch(/acme +cairn-acme +3 +eu +@cf\/baai\/bge-m3 +cairn-acme +made/);
  expect(desk.said[2]).toMatch(/half .*unfinished/);
});

it.each(["a", "acme", "acme-2", "a-facts", "facts-0", "a".repeat(40)])("takes %s as a name", (name) => {
  expect(requireName(name)).toBe(name);
});

it.each([
  "",
  "Acme",
  "2acme",
  "acme-",
  "-acme",
  "a--b",
  "a_b",
  "a.b",
  "a/b",
  "../a",
  "a b",
  "ä",
  "a".repeat(41),
  // Shard 0 of the tenant `a` has the database that this one would have.
  "a-facts-0",
  "a-facts-99",
])("refuses '%s' as a name", (name) => {
  expect(() => requireName(name)).toThrow(Stopped);
});

it.each([
  ["name = ", "is no TOML"],
  ['name = "cairn-other"\nd1_databases = []', "is of the Worker 'cairn-other'"],
  ['name = "cairn-acme"', "d1_databases"],
  ['name = "cairn-acme"\nd1_databases = []\nvars = { JURISDICTION = "moon" }', "JURISDICTION is one of eu"],
])("says what is wrong with a file that says %j", async (written, reason) => {
  const desk = newDesk();
  const path = join(root, desk.files.pathOf("acme"));
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, written);
  const message = await stopped(create(desk, plain));
  expect(message).toContain(reason);
  expect(message).toContain("acme.toml");
});
