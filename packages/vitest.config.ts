import { join } from "node:path";
import { inWorkerd, limits, overHttp, type ViteUserConfig, waiting, worker } from "../vitest.config.ts";

export default {
  // The Worker's test files are used here too. All have to see one Vitest: the root's, not one that an SDK brings.
  root: join(import.meta.dirname, ".."),
  resolve: { dedupe: ["vitest"] },
  test: {
    ...limits,
    // The adapters wait for their server, and it works beside them.
    maxWorkers: waiting,
    projects: [
      {
        extends: true,
        test: {
          name: "core",
          include: ["packages/*/test/core/**/*.test.ts"],
          setupFiles: ["test/seed.ts"],
        },
      },
      {
        // The client against a Worker whose stores fail.
        extends: true,
        plugins: [worker()],
        test: { ...inWorkerd, name: "workers", include: ["packages/*/test/workers/**/*.test.ts"] },
      },
      {
        // The adapters in the SDKs that they are made for, against a Cairn over HTTP.
        extends: true,
        test: {
          name: "adapters",
          include: ["packages/adapters/test/*.test.ts"],
          globalSetup: ["packages/adapters/test/server.ts"],
          setupFiles: ["packages/adapters/test/patient.ts", "test/seed.ts"],
        },
      },
      {
        // The Worker's tests that need nothing but HTTP and a clock, over the built Cairn for tests.
        extends: true,
        resolve: { alias: { "cloudflare:workers": join(import.meta.dirname, "embed/test/in-memory.ts") } },
        test: { name: "in-memory", include: overHttp, setupFiles: ["test/seed.ts"] },
      },
      {
        // What is published, packed and installed; the code in the documents.
        extends: true,
        test: {
          name: "package",
          include: ["packages/*/test/{package,docs}/*.test.ts", "packages/embed/test/*.test.ts"],
        },
      },
    ],
  },
} satisfies ViteUserConfig;
