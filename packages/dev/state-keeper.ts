// `node packages/dev/state-keeper.ts STATE URL`, with a channel: holds the folder of a local server and runs commands for whoever
// started it, for as long as that one lives.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { reasonOf } from "./cannot-start.ts";
import type { Holder } from "./server-address.ts";
import { holdState } from "./state-lock.ts";

/** To the starter: that it holds the folder, who does, or why nobody can; and with what exit code a command ended. */
export type FromKeeper =
  | { held: true }
  | { held: false; holder: Holder | null }
  | { failed: string }
  | { ended: number | null };
/** To the keeper: a script of Node with its arguments, for one command after another. */
export type ToKeeper = { run: readonly string[] };

const root = join(import.meta.dirname, "../..");

/** No look-up of the outside world: not of `Request.cf`, not for updates, not for telemetry. */
const quiet = {
  ...process.env,
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
  NO_UPDATE_NOTIFIER: "1",
  // Else whoever is on this machine, and pages of other local servers, read and write the database without a token.
  X_LOCAL_EXPLORER: "false",
  CI: "true",
  // Wrangler is ten megabytes of code: the second start need not compile it again.
  NODE_COMPILE_CACHE: join(root, "node_modules/.cache/node"),
};

const tell = (message: FromKeeper, then = () => {}): void => void process.send?.(message, then);

// A child inherits the mask: what wrangler and workerd write is the owner's alone.
process.umask(0o077);
// The starter ends the whole group by this signal. This process ends after its command, and gives back the folder then.
let [asked, running] = [false, false];
process.on("SIGTERM", () => {
  asked = true;
  if (!running) process.exit();
});
// The starter has gone, maybe by SIGKILL, and nobody else would stop the server.
process.once("disconnect", () => process.kill(-process.pid, "SIGKILL"));

function run(args: readonly string[]): void {
  running = true;
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args], {
    cwd: root,
    env: quiet,
    stdio: ["ignore", "inherit", "inherit"],
  });
  child.once("exit", (ended) => {
    running = false;
    tell({ ended });
    if (asked) process.exit();
  });
}

const [, , state = "", url = ""] = process.argv;
const outcome = await holdState(state, { pid: process.pid, url, state }).catch((error: unknown) => ({
  failed: reasonOf(error),
}));
if ("failed" in outcome) tell(outcome, () => process.exit());
else if (outcome.held) {
  process.on("message", (message: ToKeeper) => run(message.run));
  process.once("exit", outcome.giveBack);
  tell({ held: true });
} else {
  tell(outcome, () => process.exit());
}
