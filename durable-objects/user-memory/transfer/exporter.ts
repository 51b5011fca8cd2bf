import { inUtf8, type JsonPieces } from "../../../src/domain/json-pieces.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { inlineOrText } from "../../../src/domain/transfer/raw-value.ts";
import { ownerKeyOf } from "../../../src/domain/entry-parts.ts";
import { type EntryStore, partsNamedIn } from "../../storage/entry-store.ts";
import type { Generation } from "../core/generation.ts";
import { positionOf } from "../core/position.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { ExportPage, ExportPlace, Section, Spot } from "../contract.ts";

/** `count`: how many lines it is that go together, if it is not one. */
type Line = { pieces: JsonPieces; count?: number; next: Spot };
type ThreadRow = {
  n: number;
  id: string;
  title: string;
  agent: string | null;
  resource_slug: string | null;
  record_id: string | null;
  metadata: string | null;
  indexing: string | null;
  last_seq: number;
  parent_id: string | null;
  fork_seq: number;
  forked_from: string | null;
  deleted: number;
  created_at: number;
  updated_at: number;
};
type EntryRow = {
  key: string;
  value: ArrayBuffer;
  version: string;
  updated_at: number;
  expires_at: number | null;
  refresh_ms: number | null;
};
type Parts = {
  sql: SqlStorage;
  stores: Pick<ThreadStores, "messages" | "compactions" | "lineage">;
  entries: Pick<EntryStore, "version">;
  generation: Pick<Generation, "epoch">;
  now: () => number;
};

/** A page ends behind the line that reaches one of these. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_LINES = 2000;
/** What a thread hides of what it shares is in the page of its line, up to so much: RPC moves 32 MiB. */
const HIDDEN_BYTES = 8 * 1024 * 1024;

/**
 * Threads and entries as the lines of an export (docs/export.md), page by page in an order that writes do not disturb:
 * threads by their numbers, so that what a fork shares comes before it, each with its own messages. What a thread hides is
 * read with its line, or with the message if that is its own: once it is told, it does not come back without that.
 */
export class Exporter {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The next page; `not_found` if the user was erased since the export began. */
  page(place: ExportPlace = this.#beginning()): Result<ExportPage> {
    if (place.epoch !== this.#parts.generation.epoch) return fail("not_found");
    const { epoch } = place;
    const pieces: JsonPieces = [];
    let [bytes, count] = [0, 0];
    for (const line of this.#lines(place)) {
      pieces.push(...line.pieces, "\n");
      bytes += line.pieces.reduce((sum, piece) => sum + piece.length, 0);
      count += line.count ?? 1;
      const most = line.next.part === "hidden" ? HIDDEN_BYTES : PAGE_BYTES;
      if (bytes >= most || (most === PAGE_BYTES && count >= PAGE_LINES))
        return ok({ lines: inUtf8(pieces), count, epoch, next: { ...place, at: line.next } });
    }
    return ok({ lines: inUtf8(pieces), count, epoch });
  }

  #beginning(): ExportPlace {
    const { upTo } = this.#parts.sql
      .exec<{ upTo: number }>('SELECT COALESCE(MAX(n), 0) AS "upTo" FROM threads')
      .one();
    return { epoch: this.#parts.generation.epoch, upTo, at: { part: "thread", n: 0 } };
  }

  *#lines({ at, upTo }: ExportPlace): Generator<Line, void> {
    if (at.part !== "entry") {
      yield* this.#restOfThread(at);
      for (const row of this.#threads(at.n, upTo)) {
        const begun = { ...this.#section(row), part: "hidden", after: 0 } as const;
        yield { pieces: [JSON.stringify(threadLine(row))], next: begun };
        yield* this.#restOfThread(begun);
      }
    }
    yield* this.#entries(at.part === "entry" ? at : { part: "entry", after: null });
  }

  /** What follows in the section of a thread: what it hides of what it shares, its own messages, compactions. */
  *#restOfThread(at: Exclude<Spot, { part: "entry" }>): Generator<Line, void> {
    if (at.part === "thread") return;
    const { n, forkSeq, lastSeq, compactedAt } = at;
    const section = { n, forkSeq, lastSeq, compactedAt };
    const id = this.#idOf(n);
    // Its last messages went with it meanwhile.
    if (id === null) return;
    if (at.part === "hidden") yield* this.#hidden(section, id, at.after);
    if (at.part !== "compaction") yield* this.#messages(section, id, at.part === "message" ? at.after : 0);
    yield* this.#compactions(section, id, at.part === "compaction" ? at.after : [0, ""]);
  }

  *#messages(section: Section, threadId: string, after: number): Generator<Line, void> {
    const { n, lastSeq } = section;
    const { messages, lineage } = this.#parts.stores;
    const hides = lineage.hidesAny(section);
    const own = messages.read([positionOf(n, after + 1), positionOf(n, lastSeq)], {
      order: "oldest",
      hiddenIn: null,
    });
    for (const { seq, body, createdAt } of own) {
      const pieces = inlineOrText({ type: "message", threadId, seq, createdAt }, "message", body);
      const next = { ...section, part: "message", after: seq } as const;
      const hidden = hides && !lineage.shows(section, positionOf(n, seq));
      yield hidden
        ? { pieces: [...pieces, "\n", hiddenLine(threadId, seq)], count: 2, next }
        : { pieces, next };
    }
  }

  /** Of what it shares, also where that is gone by now: it may have been told of before. */
  *#hidden(section: Section, threadId: string, after: number): Generator<Line, void> {
    const rows = this.#parts.sql.exec<{ seq: number }>(
      "SELECT seq FROM hidden_messages WHERE thread = ? AND seq > ? AND seq <= ? ORDER BY seq",
      section.n,
      after,
      section.forkSeq,
    );
    for (const { seq } of rows)
      yield { pieces: [hiddenLine(threadId, seq)], next: { ...section, part: "hidden", after: seq } };
  }

  *#compactions(
    section: Section,
    threadId: string,
    after: readonly [from: number, id: string],
  ): Generator<Line, void> {
    for (let last = after, more = true; more;) {
      const page = this.#parts.stores.compactions.list(section, { after: last, limit: 100 });
      for (const { id, from, to, summary, createdAt } of page.items) {
        last = [from, id];
        if (to > section.lastSeq || createdAt > section.compactedAt) continue;
        const fields = { type: "compaction", threadId, id, from, to, createdAt };
        yield {
          pieces: inlineOrText(fields, "summary", summary),
          next: { ...section, part: "compaction", after: last },
        };
      }
      ({ more } = page);
    }
  }

  *#entries({ after, head }: Extract<Spot, { part: "entry" }>): Generator<Line, void> {
    // The parts there are now would be those of another value: its entry is told again, with them.
    const again = head !== undefined && this.#parts.entries.version(head.key) !== head.version;
    const rows = this.#parts.sql.exec<EntryRow>(
      `SELECT * FROM entries WHERE key ${again ? ">=" : ">"} ?1 AND (expires_at IS NULL OR expires_at >= ?2) ORDER BY key`,
      again ? head.key : (after ?? ""),
      this.#parts.now(),
    );
    let last = again ? undefined : head;
    for (const row of rows) {
      const fields = {
        type: "entry",
        key: row.key,
        version: row.version,
        updatedAt: row.updated_at,
        ...(row.expires_at !== null && { expiresAt: row.expires_at }),
        ...(row.refresh_ms !== null && { refreshMs: row.refresh_ms }),
      };
      if (partsNamedIn(row.value) !== null) last = { key: row.key, version: row.version };
      else if (last?.key !== ownerKeyOf(row.key)) last = undefined;
      yield {
        pieces: inlineOrText(fields, "value", new Uint8Array(row.value)),
        next: { part: "entry", after: row.key, ...(last && { head: last }) },
      };
    }
  }

  #threads(after: number, upTo: number): Iterable<ThreadRow> {
    return this.#parts.sql.exec<ThreadRow>(
      `SELECT threads.*, parents.id AS parent_id FROM threads LEFT JOIN threads AS parents ON parents.n = threads.parent
       WHERE threads.n > ? AND threads.n <= ? ORDER BY threads.n`,
      after,
      upTo,
    );
  }

  #section({ n, fork_seq: forkSeq, last_seq: lastSeq }: ThreadRow): Section {
    const { compactedAt } = this.#parts.sql
      .exec<{ compactedAt: number }>(
        'SELECT COALESCE(MAX(created_at), 0) AS "compactedAt" FROM compactions WHERE thread = ?',
        n,
      )
      .one();
    return { n, forkSeq, lastSeq, compactedAt };
  }

  #idOf(n: number): string | null {
    return (
      this.#parts.sql.exec<{ id: string }>("SELECT id FROM threads WHERE n = ?", n).toArray()[0]?.id ?? null
    );
  }
}

const hiddenLine = (threadId: string, seq: number): string =>
  JSON.stringify({ type: "hidden", threadId, seq });

/** `parent` is who owns the messages up to `seq` that the thread shares. A deleted thread is there for its forks. */
const threadLine = (row: ThreadRow) => ({
  type: "thread",
  id: row.id,
  title: row.title,
  ...(row.agent !== null && { agent: row.agent }),
  ...(row.resource_slug !== null && { resourceSlug: row.resource_slug }),
  ...(row.record_id !== null && { recordId: row.record_id }),
  ...(row.metadata !== null && { metadata: JSON.parse(row.metadata) as unknown }),
  ...(row.indexing !== null && { indexing: row.indexing }),
  lastSeq: row.last_seq,
  ...(row.parent_id !== null && { parent: { threadId: row.parent_id, seq: row.fork_seq } }),
  ...(row.forked_from !== null && { forkedFrom: row.forked_from }),
  ...(row.deleted === 1 && { deleted: true }),
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});
