import { join } from "node:path";
import { inWorkerd, limits, type ViteUserConfig, waiting, worker } from "../../vitest.config.ts";

export default {
  // The Worker's test files are used here too. All have to see one Vitest: the root's, not one that an SDK brings.
  root: join(import.meta.dirname, "../.."),
  resolve: { dedupe: ["vitest"] },
  test: {
    ...limits,
    // The adapters wait for their server, and it works beside them.
    maxWorkers: waiting,
    projects: [
      { extends: true, test: { name: "core", include: ["packages/client/test/core/**/*.test.ts"] } },
      {
        // The client against a Worker whose stores fail.
        extends: true,
        plugins: [worker()],
        test: { ...inWorkerd, name: "workers", include: ["packages/client/test/workers/**/*.test.ts"] },
      },
      {
        // The adapters in the SDKs that they are made for, against a Cairn over HTTP.
        extends: true,
        test: {
          name: "adapters",
          include: ["packages/client/test/adapters/**/*.test.ts"],
          globalSetup: ["packages/client/test/adapters/server.ts"],
          setupFiles: ["packages/client/test/adapters/patient.ts"],
        },
      },
      {
        // The Worker's tests that need nothing but HTTP and a clock, over the built Cairn for tests.
        extends: true,
        resolve: { alias: { "cloudflare:workers": join(import.meta.dirname, "test/in-memory.ts") } },
        test: { name: "in-memory", include: ["test/http/**/*.test.ts"] },
      },
      { extends: true, test: { name: "package", include: ["packages/client/test/package/**/*.test.ts"] } },
    ],
  },
} satisfies ViteUserConfig;
