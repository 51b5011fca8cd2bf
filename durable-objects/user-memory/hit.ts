import type { MemoryRow } from "../../src/d1/tables.ts";
import { memoryOf } from "../../src/memory/record.ts";
import type { Hit } from "../../src/schema/recall.ts";
import type { Found } from "./search.ts";
import type { MessageRecord } from "./thread-messages.ts";
import { seqOf } from "./position.ts";

/** What was found, as callers see it; null for what is not there any more, and a message that no thread shows. */
export function hitOf(
  { n, score, lexical, vector, key, document }: Found,
  row: MemoryRow | undefined,
  threadOf: (position: number) => string | null,
): Hit | null {
  const { kind, text, record, createdAt } = document;
  const why = {
    ...(lexical !== undefined && { lexical }),
    ...(vector !== undefined && { vector }),
    ...(key && { key }),
  };
  if (kind === "message") {
    const threadId = threadOf(n);
    if (threadId === null) return null;
    const seq = seqOf(n);
    const { role } = JSON.parse(record) as MessageRecord;
    return { id: `${threadId}:${seq}`, kind, text, score, why, threadId, seq, role, createdAt };
  }
  if (row === undefined) return null;
  const { userId: _user, status: _status, score: ownScore, ...memory } = memoryOf(row);
  return { ...memory, score, why, ...(ownScore !== undefined && { ownScore }) };
}
