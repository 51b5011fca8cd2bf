import { memoryOf } from "../../../src/domain/memory/record.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { Passage } from "../../../src/domain/ranking/passages.ts";
import type { Hit } from "../../../src/domain/schema/recall.ts";
import { isMessage, seqOf } from "../core/position.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import {
  type DocumentOfMessage,
  type Documents,
  isOfMessage,
  withoutSpeaker,
} from "../search-index/documents.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { RankedHit } from "./hybrid-search.ts";

type HitSources = {
  table: Pick<MemoryTable, "numbered">;
  memorySource: Pick<MemoryDocuments, "supersededBy">;
  messages: Pick<ThreadMessages, "threadsOf" | "around">;
  documents: Pick<Documents, "read">;
};
type Neighbours = NonNullable<Hit["window"]>;

/** Characters of a message that is shown beside a hit. */
const WINDOW_CHARACTERS = 2_000;

/**
 * The hits as callers see them, with their rows, threads and neighbours. Leaves out those whose document is gone, and messages that
 * no thread shows. `window`: neighbours on each side of a message.
 */
export function hitsOf(
  { table, memorySource, messages, documents }: HitSources,
  ranked: readonly RankedHit[],
  { threadId, asOf, window }: { threadId: string | undefined; asOf: number | undefined; window: number },
): Hit[] {
  const numbers = ranked.map(({ n }) => n);
  const rows = new Map(table.numbered(numbers, { asOf }).map((row) => [row.version, row]));
  const threads = messages.threadsOf(numbers.filter(isMessage), threadId);
  const around = new Map(
    Array.from(threads, ([n, id]) => [n, window === 0 ? [] : messages.around(id, n, window)]),
  );
  const neighbours = new Map(
    documents
      .read([...around.values()].flat())
      .filter(isOfMessage)
      .filter(({ createdAt }) => createdAt <= (asOf ?? Infinity))
      .map((document) => [document.n, neighbourOf(document)]),
  );
  const isNow = asOf === undefined;
  const former = isNow ? memorySource.supersededBy([...rows.keys()]) : new Map<number, number>();
  return ranked.flatMap((hit): Hit[] => {
    const { n, document } = hit;
    if (isOfMessage(document)) {
      const id = threads.get(n);
      const beside = (around.get(n) ?? []).flatMap((one) => neighbours.get(one) ?? []);
      return id === undefined ? [] : [messageHit(hit, document, { threadId: id, window: beside })];
    }
    const row = rows.get(n);
    if (row === undefined) return [];
    const supersededBy = isNow ? (row.supersededBy ?? undefined) : undefined;
    return [memoryHit(hit, row, { supersedes: former.get(n), supersededBy })];
  });
}

function messageHit(
  { n, score, why, passage, replacedAt }: RankedHit,
  { kind, text, message, createdAt }: DocumentOfMessage,
  { threadId, window }: { threadId: string; window: Neighbours },
): Hit {
  const seq = seqOf(n);
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

function memoryHit(
  { score, why, document, passage, replacedAt }: RankedHit,
  row: MemoryRow,
  { supersedes, supersededBy }: Pick<Hit, "supersedes" | "supersededBy">,
): Hit {
  const { status: _status, score: ownScore, ...memory } = memoryOf(row);
  return {
    ...memory,
    ...passageIn(memory.text, document.text, passage),
    ...(supersedes !== undefined && { supersedes }),
    ...(supersededBy !== undefined && { supersededBy }),
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

function neighbourOf({ n, text, createdAt, message }: DocumentOfMessage): Neighbours[number] {
  const { role, name, cut: isCut = false } = message;
  const whole = withoutSpeaker(text, message);
  return {
    seq: seqOf(n),
    role,
    ...(name !== undefined && { name }),
    text: whole.slice(0, WINDOW_CHARACTERS),
    ...((isCut || whole.length > WINDOW_CHARACTERS) && { cut: true as const }),
    createdAt,
  };
}
