import type { MemoryRow } from "../../src/d1/tables.ts";
import { memoryOf } from "../../src/memory/record.ts";
import type { Hit } from "../../src/schema/recall.ts";
import type { Found } from "./search-index.ts";
import type { MessageRecord } from "./thread-messages.ts";
import { seqOf } from "./position.ts";

/** What was found, as callers see it; null for a message that no thread shows any more. */
export function hitOf(
  { n, score, lexical, vector, document }: Found,
  threadOf: (position: number) => string | null,
): Hit | null {
  const { kind, text, record, createdAt } = document;
  const why = { ...(lexical !== undefined && { lexical }), ...(vector !== undefined && { vector }) };
  if (kind === "message") {
    const threadId = threadOf(n);
    if (threadId === null) return null;
    const seq = seqOf(n);
    const { role } = JSON.parse(record) as MessageRecord;
    return { id: `${threadId}:${seq}`, kind, text, score, why, threadId, seq, role, createdAt };
  }
  const { id, tags, metadata } = memoryOf(JSON.parse(record) as MemoryRow);
  return { id, kind, text, score, why, ...(tags && { tags }), ...(metadata && { metadata }), createdAt };
}
