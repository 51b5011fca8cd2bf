import { memoryOf } from "../../../src/domain/memory/record.ts";
import type { Passage } from "../../../src/domain/ranking/passages.ts";
import type { Hit } from "../../../src/domain/schema/recall.ts";
import { seqOf } from "../core/position.ts";
import type { RankedHit } from "./search-query.ts";
import { type DocumentOfMessage, withoutSpeaker } from "../search-index/documents.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** A memory's row and the versions beside it, or a message's thread and its neighbours there in their order. */
type Place = {
  row: MemoryRow | undefined;
  supersedes: number | undefined;
  supersededBy: number | null | undefined;
  threadId: string | undefined;
  neighbours: readonly DocumentOfMessage[];
};

/** Characters of a message that is shown beside a hit. */
const WINDOW_CHARACTERS = 2_000;

/** The hit as callers see it; null if the document is gone, or no thread shows the message. */
export function hitOf(
  { n, score, why, document, passage, replacedAt }: RankedHit,
  { row, supersedes, supersededBy, threadId, neighbours }: Place,
): Hit | null {
  const { kind, text, message, createdAt } = document;
  if (message !== undefined) {
    if (threadId === undefined) return null;
    const seq = seqOf(n);
    const window = neighbours.map(neighbourOf);
    const own = withoutSpeaker(text, message);
    return {
      id: `${threadId}:${seq}`,
      kind,
      text: own,
      ...passageIn(own, text, passage),
      score,
      why,
      threadId,
      seq,
      ...message,
      createdAt,
      ...(replacedAt !== undefined && { replacedAt }),
      ...(window.length > 0 && { window }),
    };
  }
  if (row === undefined) return null;
  const { status: _status, score: ownScore, ...memory } = memoryOf(row);
  return {
    ...memory,
    ...passageIn(memory.text, text, passage),
    ...(supersedes !== undefined && { supersedes }),
    ...(supersededBy != null && { supersededBy }),
    ...(replacedAt !== undefined && memory.validTo === undefined && { replacedAt }),
    score,
    why,
    ...(ownScore !== undefined && { ownScore }),
  };
}

/** The passage of a document in the shown text: the index puts a name, a title or a key before it. */
function passageIn(shown: string, indexed: string, passage: Passage | undefined): { passage?: Passage } {
  const before = indexed.length - shown.length;
  if (passage === undefined || passage.end <= before) return {};
  return { passage: { start: Math.max(0, passage.start - before), end: passage.end - before } };
}

function neighbourOf(document: DocumentOfMessage): NonNullable<Hit["window"]>[number] {
  const { n, text, createdAt, message } = document;
  const { role, name, cut: stored } = message;
  const whole = withoutSpeaker(text, message);
  const cut = stored === true || whole.length > WINDOW_CHARACTERS;
  return {
    seq: seqOf(n),
    role,
    ...(name !== undefined && { name }),
    text: whole.slice(0, WINDOW_CHARACTERS),
    ...(cut && { cut: true as const }),
    createdAt,
  };
}
