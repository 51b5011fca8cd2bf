import { newId } from "./new-id.ts";
import type { IfVersion, WriteOptions } from "./options.ts";

/** Makes a write happen once, however often it is sent. */
export const onceOf = ({ idempotencyKey = newId() }: WriteOptions): Record<string, string> => ({
  "Idempotency-Key": idempotencyKey,
});

/** Makes a write happen under a condition only. */
export function conditionOf({ ifVersion }: IfVersion): Record<string, string> {
  if (ifVersion === undefined) return {};
  return ifVersion === null ? { "If-None-Match": "*" } : { "If-Match": `"${ifVersion}"` };
}
