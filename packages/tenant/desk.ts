import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { RealFiles } from "./files.ts";
import { baseOf, type Desk } from "./tenants.ts";
import { RealWrangler } from "./wrangler.ts";

const root = join(import.meta.dirname, "../..");
const HEALTH_WITHIN_MS = 20_000;

/** The services of a command at a terminal. The one deployment has its files beside wrangler.toml. */
export function deskOf({ account, tenants }: { account: string | undefined; tenants: boolean }): Desk {
  const { CAIRN_SECRET: secret, CAIRN_TENANTS: folder = join(root, "tenants"), CI = "" } = process.env;
  return {
    files: new RealFiles(root, tenants ? folder : root),
    wrangler: new RealWrangler(root, account),
    base: baseOf(join(root, "wrangler.toml")),
    say: (line) => console.log(line),
    wait: (ms) => wait(ms),
    health: async (url) => {
      const response = await fetch(`${url}/health`, { signal: AbortSignal.timeout(HEALTH_WITHIN_MS) });
      return { status: response.status, body: await response.text() };
    },
    accepts: async (url, token) => {
      const headers = { Authorization: `Bearer ${token}` };
      const signal = AbortSignal.timeout(HEALTH_WITHIN_MS);
      const response = await fetch(`${url}/v1/users?limit=1`, { headers, signal }).catch(() => null);
      // No answer refuses nothing.
      return response?.status !== 401;
    },
    secret: secret === "" ? undefined : secret,
    passing: CI !== "" && CI !== "false",
  };
}
