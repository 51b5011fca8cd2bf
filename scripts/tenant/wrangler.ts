// The wrangler on the PATH (`npm run` puts the project's own there), run without a terminal: it asks nothing then.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Stopped } from "./stopped.ts";

/** `entries` is what wrangler writes for programs, a line of JSON for each: where it deployed to is only said there. */
export type Answer = { ok: boolean; stdout: string; stderr: string; entries: string };

export interface Wrangler {
  /** Asks the account for something, and changes nothing. */
  ask(args: readonly string[]): Promise<Answer>;
  /** Changes something; `input` goes to wrangler's stdin. Rejects with `Stopped` if wrangler fails. */
  run(args: readonly string[], input?: string): Promise<Answer>;
}

export class RealWrangler implements Wrangler {
  readonly #root: string;
  readonly #account: string | undefined;

  /** Without an account, the one that wrangler is logged in to, or that the configuration names. */
  constructor(root: string, account: string | undefined) {
    this.#root = root;
    this.#account = account;
  }

  ask(args: readonly string[]): Promise<Answer> {
    return this.#start(args, "");
  }

  async run(args: readonly string[], input = ""): Promise<Answer> {
    const answer = await this.#start(args, input);
    if (!answer.ok) throw failure(args, answer);
    return answer;
  }

  async #start(args: readonly string[], input: string): Promise<Answer> {
    const directory = mkdtempSync(join(tmpdir(), "cairn-tenant-"));
    const file = join(directory, "entries");
    // The secret goes to wrangler by its stdin and by nothing else.
    const { CAIRN_SECRET: _, ...inherited } = process.env;
    const env = {
      ...inherited,
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_HIDE_BANNER: "true",
      NO_COLOR: "1",
      WRANGLER_OUTPUT_FILE_PATH: file,
      ...(this.#account !== undefined && { CLOUDFLARE_ACCOUNT_ID: this.#account }),
    };
    try {
      const ended = await finished(args, { root: this.#root, input, env });
      return { ...ended, entries: existsSync(file) ? readFileSync(file, "utf8") : "" };
    } finally {
      rmSync(directory, { recursive: true });
    }
  }
}

/** The failure of a command, with what wrangler said. */
export function failure(args: readonly string[], { stdout, stderr }: Answer): Stopped {
  const said = `${stdout}${stderr}`.trim();
  // Its own advice is for a person who runs wrangler: a temporary account is no place for a tenant.
  if (said.includes("set a CLOUDFLARE_API_TOKEN environment variable"))
    return new Stopped(
      `wrangler ${args.join(" ")} failed: nobody is logged in. Log in with npx wrangler login, or set CLOUDFLARE_API_TOKEN.`,
      1,
    );
  return new Stopped(`wrangler ${args.join(" ")} failed:\n${said}`, 1);
}

function finished(
  args: readonly string[],
  { root, input, env }: { root: string; input: string; env: NodeJS.ProcessEnv },
): Promise<Omit<Answer, "entries">> {
  return new Promise((resolve, reject) => {
    const child = spawn("wrangler", args, { cwd: root, env, stdio: ["pipe", "pipe", "pipe"] });
    const said = { stdout: "", stderr: "" };
    child.stdout.on("data", (chunk: Buffer) => void (said.stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => void (said.stderr += chunk.toString()));
    child.once("error", () => reject(new Stopped("There is no wrangler: run this with `npm run tenant`.")));
    child.once("close", (code) => resolve({ ok: code === 0, ...said }));
    // A wrangler that ends before it has read its input says why by itself.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}
