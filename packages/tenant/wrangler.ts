// The wrangler on the PATH (`npm run` puts the project's own there), run without a terminal: it asks nothing then.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { Stopped } from "./stopped.ts";

/** As wrangler itself: a test's API may stand in for Cloudflare's. */
const API = process.env.CLOUDFLARE_API_BASE_URL ?? "https://api.cloudflare.com/client/v4";
const API_WITHIN_MS = 30_000;
/** A command that takes longer waits for an answer that does not come. */
const COMMAND_WITHIN_MS = 600_000;
/** The code of an account that has no subdomain. */
const NO_SUBDOMAIN = 10007;

const User = z.object({ accounts: z.array(z.object({ id: z.string() })) });
const Credentials = z.union([
  z.object({ type: z.enum(["api_token", "oauth"]), token: z.string() }),
  z.object({ type: z.literal("api_key"), key: z.string(), email: z.string() }),
]);
const ApiAnswer = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ code: z.number(), message: z.string() })),
});

const headersOf = (credentials: z.infer<typeof Credentials>): Record<string, string> =>
  credentials.type === "api_key"
    ? { "X-Auth-Key": credentials.key, "X-Auth-Email": credentials.email }
    : { Authorization: `Bearer ${credentials.token}` };

/** `entries` is what wrangler writes for programs, a line of JSON for each: where it deployed to is only said there. */
export type Answer = { ok: boolean; stdout: string; stderr: string; entries: string };

export type Secrets = Readonly<Record<string, string>>;

export interface Wrangler {
  /** Asks the account for something, and changes nothing. */
  ask(args: readonly string[]): Promise<Answer>;
  /** Changes something; the secrets go along by a file that nobody else reads. Rejects with `Stopped` if wrangler fails. */
  run(args: readonly string[], secrets?: Secrets | null): Promise<Answer>;
  /** Asks Cloudflare's API for the account's workers.dev subdomain, which no command of wrangler shows. */
  subdomain(account: string | undefined): Promise<Subdomain>;
}

/** `unknown`: it could not be asked, for this reason. */
export type Subdomain =
  | { is: "registered" }
  | { is: "missing"; account: string }
  | { is: "unknown"; reason: string };

export class RealWrangler implements Wrangler {
  readonly #root: string;
  readonly #account: string | undefined;

  /** Without an account, the one that wrangler is logged in to, or that the configuration names. */
  constructor(root: string, account: string | undefined) {
    this.#root = root;
    this.#account = account;
  }

  ask(args: readonly string[]): Promise<Answer> {
    return this.#start(args, null);
  }

  async run(args: readonly string[], secrets: Secrets | null = null): Promise<Answer> {
    const answer = await this.#start(args, secrets);
    if (!answer.ok) throw failure(args, answer);
    return answer;
  }

  async subdomain(given: string | undefined): Promise<Subdomain> {
    const account =
      given ?? this.#account ?? (process.env.CLOUDFLARE_ACCOUNT_ID || (await this.#onlyAccount()));
    if (account === undefined) return { is: "unknown", reason: "which of several accounts is not said" };
    const credentials = Credentials.safeParse(await this.#json(["auth", "token", "--json"]));
    if (!credentials.success) return { is: "unknown", reason: "wrangler gives no token" };
    const answer = await fetch(`${API}/accounts/${account}/workers/subdomain`, {
      headers: headersOf(credentials.data),
      signal: AbortSignal.timeout(API_WITHIN_MS),
    }).then(
      async (response) => ApiAnswer.safeParse(await response.json()),
      (error: unknown) => ({ success: false as const, error }),
    );
    if (!answer.success) return { is: "unknown", reason: String(answer.error) };
    if (answer.data.success) return { is: "registered" };
    if (answer.data.errors.some(({ code }) => code === NO_SUBDOMAIN)) return { is: "missing", account };
    return { is: "unknown", reason: answer.data.errors.map(({ message }) => message).join("; ") };
  }

  /** The account of a login that has one; undefined where there are several, or none. */
  async #onlyAccount(): Promise<string | undefined> {
    const user = User.safeParse(await this.#json(["whoami", "--json"]));
    const accounts = user.success ? user.data.accounts : [];
    return accounts.length === 1 ? accounts[0]?.id : undefined;
  }

  async #json(args: readonly string[]): Promise<unknown> {
    const { stdout } = await this.ask(args);
    try {
      return JSON.parse(stdout);
    } catch {
      return null;
    }
  }

  async #start(args: readonly string[], secrets: Secrets | null): Promise<Answer> {
    const directory = mkdtempSync(join(tmpdir(), "cairn-tenant-"));
    const file = join(directory, "entries");
    const withSecrets =
      secrets === null ? args : [...args, "--secrets-file", writeSecrets(directory, secrets)];
    // The secret goes to wrangler by that file and by nothing else.
    const { CAIRN_SECRET: _, ...inherited } = process.env;
    const env = {
      ...inherited,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
      NO_COLOR: "1",
      WRANGLER_OUTPUT_FILE_PATH: file,
      ...(this.#account !== undefined && { CLOUDFLARE_ACCOUNT_ID: this.#account }),
    };
    const goes = removedOnSignal(directory);
    try {
      const ended = await finished(withSecrets, { root: this.#root, env });
      return { ...ended, entries: existsSync(file) ? readFileSync(file, "utf8") : "" };
    } finally {
      goes.off();
      rmSync(directory, { recursive: true });
    }
  }
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Removes a folder when the process is told to end, which it then does as ever. */
function removedOnSignal(directory: string): { off: () => void } {
  const end = (signal: NodeJS.Signals): void => {
    off();
    rmSync(directory, { recursive: true, force: true });
    process.kill(process.pid, signal);
  };
  const off = (): void => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return { off };
}

/** In JSON, as wrangler expands what looks like a variable in other formats. */
function writeSecrets(directory: string, secrets: Secrets): string {
  const file = join(directory, "secrets.json");
  writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 });
  return file;
}

/** The API's answers to a token that lacks a permission. */
const NOT_ALLOWED = /\[code: (?:10000|9109)\]/;
const PERMISSIONS =
  "Workers Scripts: Edit, D1: Edit, Account Settings: Read; with --vectorize, Vectorize: Edit";

/** Failures that a reader can do something about, by what wrangler says of them. */
const ADVICE = [
  {
    of: /\[code: (?:971|10429)\]|\b429\b|too many requests|throttl/i,
    advice:
      "Cloudflare takes no more calls for now: it allows 1,200 in five minutes. Wait five minutes, and run this again: it goes on from here.",
  },
  {
    of: /cpu limits are not supported|\[code: 100328\]/i,
    advice: "The free plan takes no `limits`: leave out --cpu-ms, and take it out of the file.",
  },
  {
    of: /limit of \d+ cron|cron triggers? (?:limit|per account)|\[code: 10072\]/i,
    advice:
      "The account has as many crons as its plan allows (5 on the free plan). The Worker itself is deployed. Take a cron of another Worker away, " +
      "and run this again.",
  },
  {
    of: /\b50[0234]\b|gateway|time[ds]? ?-?out|fetch failed|ECONN|ENOTFOUND|EAI_AGAIN|socket|terminated|the answer was lost/i,
    advice:
      "Cloudflare's API did not answer, or too late. It may have done all the same what it was asked for. Run this again: it looks at what is " +
      "there, and goes on from here.",
  },
] as const;

/** The failure of a command, with what wrangler said. */
export function failure(args: readonly string[], { stdout, stderr }: Answer): Stopped {
  const said = `${stdout}${stderr}`.trim();
  // Its own advice is for a person who runs wrangler: a temporary account is no place for a tenant.
  if (said.includes("set a CLOUDFLARE_API_TOKEN environment variable"))
    return new Stopped(
      `wrangler ${args.join(" ")} failed: nobody is logged in. Log in with npx wrangler login, or set CLOUDFLARE_API_TOKEN.`,
      1,
    );
  if (NOT_ALLOWED.test(said))
    return new Stopped(
      `wrangler ${args.join(" ")} failed: the API token may not do this, or is of another account. It needs the permissions ` +
        `that docs/guides/deploy.md lists (${PERMISSIONS}).\n${said}`,
      1,
    );
  // Above its error, wrangler lists bindings, files and versions.
  const error = said.slice(Math.max(0, said.indexOf("[ERROR]")));
  const advice = ADVICE.find(({ of }) => of.test(error))?.advice;
  return new Stopped(
    `wrangler ${args.join(" ")} failed:\n${said}${advice === undefined ? "" : `\n\n${advice}`}`,
    1,
  );
}

function finished(
  args: readonly string[],
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): Promise<Omit<Answer, "entries">> {
  return new Promise((resolve, reject) => {
    const child = spawn("wrangler", args, {
      cwd: root,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: COMMAND_WITHIN_MS,
    });
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => void (said.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (said.stderr += chunk.toString()));
    child.once("error", () => reject(new Stopped("There is no wrangler: run this with `npm run`.")));
    child.once("close", (code) => resolve({ ok: code === 0, ...said }));
  });
}
