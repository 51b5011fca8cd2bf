import { type Names, requireKnownOptions } from "../../known-options.ts";

/** As far as it is looked at: adapters take clients of different parts. */
type Given = { memory: unknown; user?: unknown };

/**
 * Throws a `TypeError` where an adapter is made without its client, or with an option that it does not know. Types say so
 * too, but not in JavaScript.
 */
export function demandMemory(adapter: string, options: Given, names: Names): void {
  const given = options as Given | undefined;
  requireKnownOptions(adapter, given ?? {}, names);
  if (typeof given?.memory !== "object" || given.memory === null)
    throw new TypeError(`${adapter}: \`memory\` is missing: the client that cairn() makes`);
}

/** The same without its client or its user: else calls would be of a user named `undefined`. */
export function demandUser(adapter: string, options: Given, names: Names): void {
  demandMemory(adapter, options, names);
  const { user } = options;
  if (typeof user !== "string" || user === "")
    throw new TypeError(`${adapter}: \`user\` is missing: whose memory it is`);
}

/** The same where the user may be left out, but not be empty. */
export function demandUserIfAny(adapter: string, options: Given, names: Names): void {
  const check = (options as Given | undefined)?.user === undefined ? demandMemory : demandUser;
  check(adapter, options, names);
}

/** Throws a `TypeError` for each option, by its name, that does not have the value it must have. */
export function demandFit(made: string, fits: Record<string, boolean>, what: string): void {
  for (const [name, fine] of Object.entries(fits))
    if (!fine) throw new TypeError(`${made}: ${name} must be ${what}`);
}

export const isNumberOrUnset = (value: unknown, min: number, max = Infinity): boolean =>
  value === undefined || (typeof value === "number" && value >= min && value <= max);
