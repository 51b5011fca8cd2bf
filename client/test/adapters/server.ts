// The Cairn that all tests of adapters call, over real HTTP: the Worker in workerd, started once for all of their files.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { createTestHarness } from "wrangler";

declare module "vitest" {
  interface ProvidedContext {
    cairn: { url: string; secret: string };
  }
}

/** No look-up of the outside world. */
const quiet = { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };

export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  Object.assign(process.env, quiet);
  const secret = randomBytes(32).toString("base64url");
  const configPath = join(import.meta.dirname, "../../../wrangler.toml");
  const harness = createTestHarness({ workers: [{ configPath, secrets: { CAIRN_SECRET: secret } }] });
  const { url } = await harness.listen();
  await harness.getWorker().applyD1Migrations("DB");
  provide("cairn", { url: url.origin, secret });
  return () => harness.close();
}
