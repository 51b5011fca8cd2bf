import { execFileSync } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";
import { SlowFirst } from "./test/slow-first.ts";
import type { Provided } from "./test/seed.ts";

export type { ViteUserConfig } from "vitest/config";

const root = import.meta.dirname;

// What the tests store is for one run only. In memory, a commit waits for no disk.
const [shm, room] = ["/dev/shm", 4 * 1024 ** 3];
if (process.env.TMPDIR === undefined && existsSync(shm)) {
  const { bavail, bsize } = statfsSync(shm);
  if (bavail * bsize > room) process.env.TMPDIR = shm;
}

// Test files import the same SDKs, and start the same scripts: each is compiled once.
process.env.NODE_COMPILE_CACHE ??= join(root, "node_modules/.cache/node");

// What wrangler's build step does before it serves; the tests read the embedded model from there too.
execFileSync(process.execPath, [
  join(root, "packages/dev/assets.ts"),
  "build/assets",
  "docs",
  "console",
  "model",
  "tokenizer",
]);

/** The Worker under test, in workerd; with `shards`, its users are spread over that many databases. */
export const worker = (shards = 0) =>
  cloudflareTest(async () => ({
    main: join(root, "test/worker.ts"),
    wrangler: { configPath: join(root, "wrangler.toml") },
    // Else wrangler asks for an account, for `[ai]`.
    remoteBindings: false,
    miniflare: {
      // The platform's own counter, for the tests of rates; the Worker under test has none.
      ratelimits: { TEST_RATE: { namespace_id: "1", simple: { limit: 5, period: 60 } } },
      bindings: {
        CAIRN_SECRET: "a secret of the tests, of 32 bytes or more",
        // Set to nothing counts as not set: what `.dev.vars` says is not for the tests.
        CAIRN_SECRET_PREVIOUS: "",
        AUDIT_DAYS: "",
        QUARANTINE_DAYS: "",
        JWT_JWKS_URL: "",
        JWT_ISSUER: "",
        JWT_AUDIENCE: "",
        SIGN_IN: "",
        OIDC_ISSUER: "",
        LLM_URL: "",
        LLM_MODEL: "",
        WEBHOOK_URL: "",
        EMBEDDINGS_URL: "",
        EMBEDDINGS_MODEL: "",
        EMBEDDINGS_KEY: "",
        EMBEDDINGS_DIMENSIONS: "",
        RERANKER_MODEL: "",
        // Tests call more often than a person.
        RATES: "off",
        MIGRATIONS: await readD1Migrations(join(root, "migrations")),
        // How many random histories, from which seed on; or one that failed (test/faults).
        CAIRN_HISTORIES: process.env.CAIRN_HISTORIES ?? "10",
        CAIRN_FIRST_SEED: process.env.CAIRN_FIRST_SEED ?? "1",
        CAIRN_SEED: process.env.CAIRN_SEED ?? "",
      },
      d1Databases: Array.from({ length: shards }, (_, shard) => `FACTS_${shard}`),
    },
  }));

/** Test files share a worker: to start one takes longer than most of them. */
export const inWorkerd = {
  setupFiles: [join(root, "test/seed.ts"), join(root, "test/setup.ts")],
  isolate: false,
};

/** The files of the tests with a suffix, as `name.http.test.ts`. A path says what a test tests, a suffix how it runs. */
const suffixed = (suffix: string): string => `test/**/*.${suffix}.test.ts`;
/** Tests that take seconds, for `npm run test:long`. */
const long = suffixed("long");
/** Tests that need only HTTP and a clock: the packages run them over the Cairn for tests, too. */
export const overHttp = [suffixed("http"), suffixed("http.long")];
/** Tests of what is promised of D1: `shards` runs them over three databases, the long ones there alone. */
const overShards = [...overHttp, suffixed("d1"), suffixed("d1.long"), suffixed("shards")];
const inNode = ["test/node/**/*.test.ts", suffixed("node")];
const inBrowser = [suffixed("browser")];
const histories = ["test/faults/**/*.test.ts"];
const elsewhere = [suffixed("shards"), ...inNode, ...inBrowser, ...histories];

/** Files at once that wait for a server, a browser or an alarm a quarter of their time. */
export const waiting = 3;
/** A group of their own, as all projects of a group have as many. */
const atOnce = { maxWorkers: waiting, sequence: { groupOrder: 1 } };

export const limits = {
  /** Of the examples that properties draw (test/seed.ts). */
  provide: { seed: Number(process.env.CAIRN_FIRST_SEED ?? "1") } satisfies Provided,
  maxWorkers: 2,
  sequence: { sequencer: SlowFirst },
  // Only a hang takes so long, on a busy machine too.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 120_000 } },
  // A test that passes logs only what it is meant to log.
  silent: "passed-only",
} as const;

export default defineConfig({
  test: {
    ...limits,
    projects: [
      {
        extends: true,
        plugins: [worker()],
        test: {
          ...inWorkerd,
          name: "workers",
          include: ["test/**/*.test.ts"],
          exclude: [...elsewhere, long],
        },
      },
      {
        extends: true,
        plugins: [worker()],
        test: { ...inWorkerd, name: "long", include: [long], exclude: [...elsewhere, ...overShards] },
      },
      {
        extends: true,
        plugins: [worker(3)],
        test: { ...inWorkerd, name: "shards", include: overShards },
      },
      {
        extends: true,
        plugins: [worker()],
        test: {
          name: "faults",
          include: histories,
          setupFiles: ["test/seed.ts", "test/setup.ts"],
          ...atOnce,
        },
      },
      {
        extends: true,
        test: { name: "node", include: inNode, setupFiles: ["test/seed.ts"], ...atOnce },
      },
      {
        // In a browser, which `npm test` does not ask for: one server for all files.
        extends: true,
        test: {
          name: "console",
          include: inBrowser,
          globalSetup: ["test/packages/console/server.ts"],
          ...atOnce,
        },
      },
    ],
  },
});
