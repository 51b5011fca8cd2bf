import type { MemoryRow } from "../../src/d1/tables.ts";
import { memoryOf } from "../../src/memory/record.ts";
import type { Hit } from "../../src/schema/recall.ts";
import type { Found } from "./search-index.ts";
import { seqOf, type ThreadStore } from "./thread-store.ts";

/** What a message's document keeps besides its text. */
export type MessageRecord = { role: string };

/** What was found, as callers see it. */
export function hitOf({ n, score, lexical, vector, document }: Found, threads: ThreadStore): Hit {
  const { kind, text, record, createdAt } = document;
  const why = { ...(lexical !== undefined && { lexical }), ...(vector !== undefined && { vector }) };
  if (kind === "message") {
    const threadId = threads.idAt(n);
    const seq = seqOf(n);
    const { role } = JSON.parse(record) as MessageRecord;
    return { id: `${threadId}:${seq}`, kind, text, score, why, threadId, seq, role, createdAt };
  }
  const { id, tags, metadata } = memoryOf(JSON.parse(record) as MemoryRow);
  return { id, kind, text, score, why, ...(tags && { tags }), ...(metadata && { metadata }), createdAt };
}
