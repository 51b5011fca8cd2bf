// The server of the console's tests, for all of their files.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { developmentToken, freePort, startLocalServer } from "../../../packages/dev/local-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    url: string;
    token: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const build = join(import.meta.dirname, "../../../build");
  mkdirSync(build, { recursive: true });
  const state = mkdtempSync(join(build, "console-state-"));
  const server = await startLocalServer({
    port: await freePort(),
    state,
    vars: { SIGN_IN: "codes" },
  });
  project.provide("url", server.url);
  project.provide("token", await developmentToken("*"));
  return async () => {
    await server.stop();
    rmSync(state, { recursive: true, force: true });
  };
}
