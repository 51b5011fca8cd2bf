import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import type { EntryOperation, EntryResult } from "../../../src/contract/user-memory.ts";
import { embeddedAtOnce, type ThreadMessages } from "../threads/thread-messages.ts";

export type BatchStores = { entries: EntryStore; messages: Pick<ThreadMessages, "append" | "last"> };

/** Performs the operations in order. A failure names its operation; the caller then rolls all of them back. */
export function performBatch(
  stores: BatchStores,
  operations: readonly EntryOperation[],
  now: number,
): Result<EntryResult[]> {
  const atOnce = embeddedAtOnce();
  const results: EntryResult[] = [];
  let bytes = 0;
  for (const [i, operation] of operations.entries()) {
    const path = `body.operations[${i}]`;
    const result = perform(stores, operation, { now, atOnce });
    if (!result.ok)
      return { ...result, details: [{ path, message: "failed; no operation of the batch was performed" }] };
    bytes += bytesOf(result.value);
    if (bytes > limits.batchBytes)
      return fail("batch_too_large", {
        details: [{ path, message: "is the first whose answer did not fit" }],
      });
    results.push(result.value);
  }
  return ok(results);
}

function bytesOf(result: EntryResult): number {
  if ("entry" in result) return result.entry?.value.byteLength ?? 0;
  return "last" in result ? (result.last?.json.byteLength ?? 0) : 0;
}

function perform(
  { entries, messages }: BatchStores,
  operation: EntryOperation,
  { now, atOnce }: { now: number; atOnce: { characters: number } },
): Result<EntryResult> {
  if (operation.op === "messages") return ok({ last: messages.last(operation.threadId, operation.limit) });
  if (operation.op === "append") {
    const { op: _op, threadId, ...append } = operation;
    const appended = messages.append(threadId, append, undefined, atOnce);
    return appended.ok ? ok({ appended: appended.value }) : appended;
  }
  const { key } = operation;
  if (operation.op === "get") return ok({ entry: entries.get(key, now) });
  if (operation.op === "set") return entries.set(operation, now);
  const deleted = entries.delete(key, operation.condition, now);
  return deleted.ok ? ok({ deleted: deleted.value }) : deleted;
}
