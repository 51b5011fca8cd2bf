import { newId } from "./new-id.ts";
import type { IfVersion, WriteOptions } from "./options.ts";

/** The header that makes a repeated write happen once. */
export const onceOf = ({ idempotencyKey = newId() }: WriteOptions): Record<string, string> => ({
  "Idempotency-Key": idempotencyKey,
});

/** The header of a conditional write. */
export function conditionOf({ ifVersion }: IfVersion): Record<string, string> {
  if (ifVersion === undefined) return {};
  return ifVersion === null ? { "If-None-Match": "*" } : { "If-Match": `"${ifVersion}"` };
}
