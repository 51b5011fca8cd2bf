import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { EntryOperation, EntryResult } from "../contract.ts";

/** Performs the operations in order. A failure names its operation; the caller then rolls all of them back. */
export function performBatch(
  entries: EntryStore,
  operations: readonly EntryOperation[],
  now: number,
): Result<EntryResult[]> {
  const results: EntryResult[] = [];
  let bytes = 0;
  for (const [i, operation] of operations.entries()) {
    const path = `body.operations[${i}]`;
    const result = perform(entries, operation, now);
    if (!result.ok)
      return { ...result, details: [{ path, message: "failed; no operation of the batch was performed" }] };
    bytes += "entry" in result.value ? (result.value.entry?.value.byteLength ?? 0) : 0;
    if (bytes > limits.batchBytes)
      return fail("batch_too_large", {
        details: [{ path, message: "is the first whose value did not fit" }],
      });
    results.push(result.value);
  }
  return ok(results);
}

function perform(entries: EntryStore, operation: EntryOperation, now: number): Result<EntryResult> {
  const { key } = operation;
  if (operation.op === "get") return ok({ entry: entries.get(key, now) });
  if (operation.op === "set") return entries.set(operation, now);
  const deleted = entries.delete(key, operation.condition, now);
  return deleted.ok ? ok({ deleted: deleted.value }) : deleted;
}
