import type { IfVersion, WriteOptions } from "./options.ts";

/** Makes a write happen once, however often it is sent. */
export const onceOf = ({ idempotencyKey = newKey() }: WriteOptions): Record<string, string> => ({
  "Idempotency-Key": idempotencyKey,
});

/** Makes a write happen under a condition only. */
export function conditionOf({ ifVersion }: IfVersion): Record<string, string> {
  if (ifVersion === undefined) return {};
  return ifVersion === null ? { "If-None-Match": "*" } : { "If-Match": `"${ifVersion}"` };
}

// Not `randomUUID`, which browsers keep from pages without TLS.
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
