import type { Cairn } from "../../../client/src/cairn.ts";
import { type Names, requireKnownOptions } from "../../../client/src/known-options.ts";
import { MAX_TIMEOUT_MS } from "../limits/time-limit.ts";

/** The options that every adapter shares. `memory` is unknown, since adapters take different parts of the client. */
type Given = { memory: unknown; user?: unknown; timeoutMs?: unknown };

/** Each adapter uses at least one of these parts of the client. */
const PARTS: readonly (keyof Cairn)[] = [
  "context",
  "recall",
  "kv",
  "threads",
  "memories",
  "cache",
  "promptCache",
];

/** Throws a `TypeError` if the client is missing or an option is unknown. JavaScript callers are not type-checked. */
export function requireMemory(adapter: string, options: Given, names: Names): void {
  const given = options as Given | undefined;
  requireKnownOptions(adapter, given ?? {}, names);
  const memory = given?.memory;
  if (typeof memory !== "object" || memory === null)
    throw new TypeError(`${adapter}: \`memory\` is missing: pass the client that cairn() returns`);
  if (!PARTS.some((name) => name in memory))
    throw new TypeError(`${adapter}: \`memory\` is no client: pass the client that cairn() returns`);
  requireTimeout(adapter, given?.timeoutMs);
}

/** Throws a `TypeError` for a limit that no timer has. */
export function requireTimeout(made: string, timeoutMs: unknown, name = "timeoutMs"): void {
  requireValid(
    made,
    { [name]: isNumberOrUnset(timeoutMs, 1, MAX_TIMEOUT_MS) },
    `a number from 1 to ${MAX_TIMEOUT_MS}`,
  );
}

/** Requires a client and a user. Without the check, calls would go to a user named `undefined`. */
export function requireUser(adapter: string, options: Given, names: Names): void {
  requireMemory(adapter, options, names);
  const { user } = options;
  if (typeof user !== "string" || user === "")
    throw new TypeError(
      `${adapter}: \`user\` is missing or not a string: pass the id of the user whose memory this is`,
    );
}

/** Requires a client. A user is optional, but must not be empty. */
export function requireUserIfGiven(adapter: string, options: Given, names: Names): void {
  const check = (options as Given | undefined)?.user === undefined ? requireMemory : requireUser;
  check(adapter, options, names);
}

/** Throws a `TypeError` for the first option whose entry in `valid` is false; `what` describes a valid value. */
export function requireValid(adapter: string, valid: Record<string, boolean>, what: string): void {
  for (const [name, isValid] of Object.entries(valid))
    if (!isValid) throw new TypeError(`${adapter}: \`${name}\` must be ${what}`);
}

export const isNumberOrUnset = (value: unknown, min: number, max = Infinity): boolean =>
  value === undefined || (typeof value === "number" && value >= min && value <= max);
