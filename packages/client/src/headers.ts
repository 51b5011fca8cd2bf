import type { IfVersion } from "./options.ts";

/** The header of a conditional write. */
export function conditionOf({ ifVersion }: IfVersion): Record<string, string> {
  if (ifVersion === undefined) return {};
  return ifVersion === null ? { "If-None-Match": "*" } : { "If-Match": `"${ifVersion}"` };
}
