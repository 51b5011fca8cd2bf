import { memoryOf } from "../../../src/domain/memory/record.ts";
import type { Hit } from "../../../src/domain/schema/recall.ts";
import { FIRST_POSITION, seqOf } from "../core/position.ts";
import type { Found } from "./search.ts";
import type { Document } from "../search-index/documents.ts";
import type { MessageRecord } from "../threads/thread-messages.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** What stands around what was found: a memory's row; a message's thread, and the messages beside it in their order. */
type Place = {
  row: MemoryRow | undefined;
  threadId: string | undefined;
  beside: readonly Document[];
};

/** Characters of a message that is shown beside a hit. */
export const BESIDE = 2_000;

/** What was found, as callers see it; null for what is not there any more, and a message that no thread shows. */
export function hitOf(
  { n, score, parts, lexical, vector, key, date, document }: Found,
  { row, threadId, beside }: Place,
): Hit | null {
  const { kind, text, record, createdAt } = document;
  const why = {
    ...(lexical !== undefined && { lexical }),
    ...(vector !== undefined && { vector }),
    ...(key && { key }),
    ...(date && { date }),
    ...(parts && { parts }),
  };
  if (n >= FIRST_POSITION) {
    if (threadId === undefined) return null;
    const seq = seqOf(n);
    const window = beside.map(besideOf);
    const said = JSON.parse(record) as MessageRecord;
    return {
      id: `${threadId}:${seq}`,
      kind,
      text: withoutSpeaker(text, said),
      score,
      why,
      threadId,
      seq,
      ...said,
      createdAt,
      ...(window.length > 0 && { window }),
    };
  }
  if (row === undefined) return null;
  const { status: _status, score: ownScore, ...memory } = memoryOf(row);
  return { ...memory, score, why, ...(ownScore !== undefined && { ownScore }) };
}

function besideOf({ n, text, record, createdAt }: Document): NonNullable<Hit["window"]>[number] {
  const { role, name, cut: first } = JSON.parse(record) as MessageRecord;
  const whole = withoutSpeaker(text, { name });
  const cut = first === true || whole.length > BESIDE;
  return {
    seq: seqOf(n),
    role,
    ...(name !== undefined && { name }),
    text: whole.slice(0, BESIDE),
    ...(cut && { cut: true as const }),
    createdAt,
  };
}

/** What was said: the index has the speaker's name before it. */
const withoutSpeaker = (text: string, { name }: { name?: string | undefined }): string =>
  name !== undefined && text.startsWith(`${name}: `) ? text.slice(name.length + 2) : text;
