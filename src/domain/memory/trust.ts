import type { Trust } from "../schema/provenance.ts";

/** A person and the backend that writes for people are equal: most backends write what the user said. */
const RANK: Readonly<Record<Trust, number>> = { user: 3, operator: 3, model: 2, tool: 1, import: 0 };

/** True if a memory of trust `a` stays as it is when a writer of trust `b` contradicts it. */
export const outranks = (a: Trust, b: Trust): boolean => RANK[a] > RANK[b];

/** The trust of what is derived from several sources. */
export const leastOf = (first: Trust, ...others: readonly Trust[]): Trust =>
  others.reduce((least, one) => (outranks(least, one) ? one : least), first);

/** The trust of a message by its role. */
export function trustOfRole(role: string): Trust {
  if (role === "user") return "user";
  if (role === "system" || role === "developer") return "operator";
  return role === "assistant" ? "model" : "tool";
}

/** True if the trust suffices to confirm what another one wrote. */
export const isPerson = (one: Trust): boolean => !outranks("user", one);
