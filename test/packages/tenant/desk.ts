// The tenant command without a terminal: an account in memory, and files in a directory of the test's own.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RealFiles } from "../../../packages/tenant/files.ts";
import { baseOf, type Desk } from "../../../packages/tenant/tenants.ts";
import { verifyOwn } from "../../../src/worker/auth/verify-own.ts";
import { fromNow } from "../../from-now.ts";
import { failure } from "../../../packages/tenant/wrangler.ts";
import { type Cloudflare, emptyAccount, subdomainOf, wrangler } from "./cloudflare.ts";

export const root = join(import.meta.dirname, "../../..");

export type TestDesk = Desk & {
  account: Cloudflare;
  said: string[];
  /** The times that it waited; no time passes. */
  waits: number[];
  /** The parts of the files that count: all but the secrets themselves. */
  stored: () => Record<string, string>;
  /** Lets the nth command from now on fail; `done`: after it was done. */
  failAt: (nth: number, done: boolean) => void;
  /** True if the failing command was reached. */
  failed: () => boolean;
};

const directories: string[] = [];

export function newDesk(account = emptyAccount()): TestDesk {
  const directory = mkdtempSync(join(tmpdir(), "cairn-tenants-"));
  directories.push(directory);
  const read = (path: string) => readFileSync(join(root, path), "utf8");
  const said: string[] = [];
  const waits: number[] = [];
  return {
    account,
    said,
    waits,
    files: new RealFiles(root, directory),
    base: baseOf(join(root, "wrangler.toml")),
    say: (line) => void said.push(line),
    wait: async (ms) => void waits.push(ms),
    secret: undefined,
    passing: false,
    accepts: async (_, token) => {
      const secrets = Object.values(account.workers).flatMap(({ secret }) =>
        secret === null ? [] : [secret],
      );
      return (await verifyOwn(token, secrets, fromNow(60_000))).ok;
    },
    // As the Worker's: without a secret it serves nothing.
    health: async () =>
      Object.values(account.workers).some(({ secret }) => secret !== null)
        ? { status: 200, body: JSON.stringify({ status: "ok" }) }
        : { status: 503, body: JSON.stringify({ status: "misconfigured" }) },
    wrangler: {
      subdomain: async () => subdomainOf(account),
      ask: async (args) => wrangler(account, args, { secrets: null, read }),
      run: async (args, secrets = null) => {
        const answer = wrangler(account, args, { secrets, read });
        if (!answer.ok) throw failure(args, answer);
        return answer;
      },
    },
    stored: () =>
      Object.fromEntries(
        readdirSync(directory)
          .toSorted()
          .map((file) => [
            file,
            file.endsWith(".toml") ? readFileSync(join(directory, file), "utf8") : "secret",
          ]),
      ),
    failAt: (nth, done) => void (account.fail = { at: account.calls.length + nth, done }),
    failed: () => account.fail !== null && account.calls.length >= account.fail.at,
  };
}

export function removeDirectories(): void {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}
