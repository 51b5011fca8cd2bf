import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-pool-workers";
import { defineConfig } from "vitest/config";

// What wrangler's build step does before it serves; the tests read the embedded model from there too.
execFileSync(process.execPath, ["scripts/assets.ts", "build/assets", "docs", "model"]);

const overHttp = [
  "append-order",
  "cache",
  "document",
  "entries",
  "memories-changes",
  "memories-facts",
  "memories-identity",
  "memories-kinds",
  "memories-list",
  "memories-quarantine",
  "memories-times",
  "named-errors",
  "shared-owners",
  "thread-pages",
  "threads",
];

/** The Worker under test, in workerd; with `shards`, its users are spread over that many databases. */
const worker = (shards = 0) =>
  cloudflareTest(async () => ({
    main: "./test/worker.ts",
    wrangler: { configPath: "./wrangler.toml" },
    miniflare: {
      // The platform's own counter, for the tests of rates; the Worker under test has none.
      ratelimits: { TEST_RATE: { namespace_id: "1", simple: { limit: 5, period: 60 } } },
      bindings: {
        CAIRN_SECRET: "a secret of the tests, of 32 bytes or more",
        // Set to nothing counts as not set: what `.dev.vars` says is not for the tests.
        CAIRN_SECRET_PREVIOUS: "",
        AUDIT_DAYS: "",
        JWT_JWKS_URL: "",
        JWT_ISSUER: "",
        JWT_AUDIENCE: "",
        EMBEDDINGS_URL: "",
        EMBEDDINGS_MODEL: "",
        EMBEDDINGS_KEY: "",
        EMBEDDINGS_DIMENSIONS: "",
        MIGRATIONS: await readD1Migrations("migrations"),
        // How many random histories, from which seed on; or one that failed (test/faults).
        CAIRN_HISTORIES: process.env.CAIRN_HISTORIES ?? "10",
        CAIRN_FIRST_SEED: process.env.CAIRN_FIRST_SEED ?? "1",
        CAIRN_SEED: process.env.CAIRN_SEED ?? "",
      },
      ...(shards > 0 && { d1Databases: Array.from({ length: shards }, (_, shard) => `FACTS_${shard}`) }),
    },
  }));

/** What needs neither the Worker nor a store: one worker runs them all. */
const units = [
  "test/*.test.ts",
  "test/{conversation,d1,prompt-cache,reranking,vectors}/*.test.ts",
  "test/client/{client,retry}.test.ts",
  "test/embeddings/{endpoint,in-pieces,workers-ai}.test.ts",
  "test/memory/{ranking,recall-parts,recall-settings}.test.ts",
  "test/objects/spans.test.ts",
];

/** What takes longer than all others together is for `npm run test:long`, and `npm run faults`. */
const long = [
  "test/memory/d1-limits.test.ts",
  "test/memory/erasure-faults.test.ts",
  "test/api/isolation.test.ts",
  "test/api/{export,import,import-defects,import-refusals,import-threads}.test.ts",
  "test/memory/{faults,long-threads,recall-cases}.test.ts",
  "test/api/{access,limits,requests,revocations,thread-forks}.test.ts",
  "test/memory/meant.test.ts",
  "test/api/thread-pages.test.ts",
  "test/objects/{eviction,eviction-registry,lineage}.test.ts",
  "test/api/memories-times.test.ts",
  "test/objects/vector-outbox-histories.test.ts",
];
const faults = "test/faults/**/*.test.ts";

export default defineConfig({
  test: {
    // Both kinds of tests at once, also on two cores: half of the time they wait.
    maxWorkers: 2,
    // What a test that passes logs, it logs on purpose.
    silent: "passed-only",
    projects: [
      {
        plugins: [worker()],
        test: {
          name: "workers",
          include: ["test/**/*.test.ts"],
          exclude: ["test/adapters/**", "test/node/**", "test/shards/**", faults, ...long, ...units],
          setupFiles: ["test/setup.ts"],
        },
      },
      { plugins: [worker()], test: { name: "units", include: units, isolate: false } },
      {
        // The API's tests that need nothing but HTTP and a clock, over the Cairn for tests as it was built last.
        resolve: { alias: { "cloudflare:workers": join(import.meta.dirname, "test/node/in-memory.ts") } },
        test: { name: "in-memory", include: overHttp.map((name) => `test/api/${name}.test.ts`) },
      },
      {
        plugins: [worker()],
        test: { name: "long", include: long, setupFiles: ["test/setup.ts"], testTimeout: 60_000 },
      },
      {
        plugins: [worker()],
        test: { name: "faults", include: [faults], setupFiles: ["test/setup.ts"] },
      },
      {
        // What memories and the catalogue of threads promise, over three databases; and what more there is to promise.
        plugins: [worker(3)],
        test: {
          name: "shards",
          include: [
            "test/shards/**/*.test.ts",
            "test/api/memories*.test.ts",
            "test/api/threads.test.ts",
            "test/api/erasure.test.ts",
            "test/api/{export,import,import-refusals}.test.ts",
            "test/memory/erasure-faults.test.ts",
            "test/memory/faults.test.ts",
            "test/memory/reindex.test.ts",
            "test/objects/catalogue.test.ts",
          ],
          setupFiles: ["test/setup.ts"],
          testTimeout: 60_000,
        },
      },
      {
        // The adapters in the SDKs that they are made for, against a Cairn over HTTP.
        test: {
          name: "adapters",
          include: ["test/adapters/**/*.test.ts"],
          globalSetup: ["test/adapters/server.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: { name: "node", include: ["test/node/**/*.test.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
      },
    ],
  },
});
