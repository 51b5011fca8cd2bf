import { newId } from "./new-id.ts";
import type { IfVersion, MemoryWriteOptions } from "./options.ts";

/** The options of a write, with its key as a header: a repeated request with the key returns the first answer. */
export const once = ({ idempotencyKey = newId(), trust, adapter, ...call }: MemoryWriteOptions) => ({
  ...call,
  headers: {
    "Idempotency-Key": idempotencyKey,
    ...(trust !== undefined && { "Cairn-Trust": trust }),
    ...(adapter !== undefined && { "Cairn-Adapter": adapter }),
  },
});

/** The header of a conditional write. */
export function conditionOf({ ifVersion }: IfVersion): Record<string, string> {
  if (ifVersion === undefined) return {};
  return ifVersion === null ? { "If-None-Match": "*" } : { "If-Match": `"${ifVersion}"` };
}
