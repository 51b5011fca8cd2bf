// The parts that the two commands share: options with bounds, and an end without a stack.
import { Stopped } from "./stopped.ts";

const ACCOUNT = /^[0-9a-f]{32}$/;
/** The platform's most for a call. */
export const MOST_CPU_MS = 300_000;

/** Options that npm has too: an environment may well set them. A run without them asks, or stops. */
const OF_NPM = new Set(["all", "yes"]);

/** Refuses a run whose options npm kept: without `--` before them, they arrive as variables only. */
export function requireArrived(options: readonly string[], given: object): void {
  const kept = options.find((option) => !OF_NPM.has(option) && !(option in given) && isKept(option));
  if (kept === undefined) return;
  throw new Stopped(
    `npm kept --${kept} to itself. Write -- before the options: npm run ${process.env.npm_lifecycle_event ?? "deploy"} -- … --${kept}. Nothing was done.`,
  );
}

function isKept(option: string): boolean {
  // npm completes --token to an option of its own, and writes --no-vectorize as an empty value.
  const name = option === "token" ? "token_description" : option.replaceAll("-", "_");
  const value = process.env[`npm_config_${name}`];
  return option === "dry-run" ? (value ?? "") !== "" : value !== undefined;
}

export function requireAccount(account: string | undefined): void {
  if (account !== undefined && !ACCOUNT.test(account))
    throw new Stopped(`--account is the id of an account, 32 hex digits, and not '${account}'.`);
}

export function wholeOf(option: string, given: string | undefined, most: number): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d+$/.test(given) && number >= 1 && number <= most) return number;
  throw new Stopped(`${option} is a whole number from 1 to ${most}, and not '${given}'.`);
}

/** Runs a command. What the person at the terminal can mend is shown without a stack. */
export async function ending(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    console.error(error.message);
    process.exitCode = error.exitCode;
  }
}
