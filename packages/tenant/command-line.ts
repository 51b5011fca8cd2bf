// The parts that the two commands share: options with bounds, and an end without a stack.
import { Stopped } from "./stopped.ts";

const ACCOUNT = /^[0-9a-f]{32}$/;
/** The platform's most for a call. */
export const MOST_CPU_MS = 300_000;

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
