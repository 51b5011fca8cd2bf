import { inUtf8, type JsonPieces } from "../../../src/domain/json-pieces.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { inlineOrText } from "../../../src/domain/transfer/raw-value.ts";
import { ownerKeyOf } from "../../../src/domain/entry-parts.ts";
import { type EntryStore, partsNamedIn } from "../../storage/entry-store.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import { positionOf, positionsOf } from "../core/position.ts";
import type { ExportedThread } from "../threads/thread-lists.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { ExportPage, ExportPlace, ExportedExtent, Spot } from "../../../src/contract/user-memory.ts";

/** `count`: how many lines it is that go together, if it is not one. */
type Line = { pieces: JsonPieces; count?: number; next: Spot };
type ExporterDependencies = {
  stores: Pick<ThreadStores, "threads" | "lists" | "messages" | "hidden" | "compactions">;
  entryStore: Pick<EntryStore, "version" | "from">;
  erasureEpoch: Pick<ErasureEpoch, "current">;
  now: () => number;
};

/** A page ends behind the line that reaches one of these. */
const PAGE_BYTES = 1024 * 1024;
const PAGE_LINES = 2000;
/** The page of a thread's line contains its hidden seqs, up to this size: RPC moves 32 MiB. */
const HIDDEN_BYTES = 8 * 1024 * 1024;

/**
 * Reads threads and entries as the lines of an export (docs/reference/export.md), in pages whose order no write changes. Pages follow
 * thread numbers, so a parent comes before its forks. Hidden seqs of shared messages follow the thread's line; those of own
 * messages follow the message.
 */
export class Exporter {
  readonly #deps: ExporterDependencies;

  constructor(deps: ExporterDependencies) {
    this.#deps = deps;
  }

  /** The next page; `not_found` if the user was erased since the export began. */
  page(place: ExportPlace = this.#beginning()): Result<ExportPage> {
    if (place.epoch !== this.#deps.erasureEpoch.current) return fail("not_found");
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
    const { stores, erasureEpoch } = this.#deps;
    return { epoch: erasureEpoch.current, upTo: stores.threads.lastNumber(), at: { part: "thread", n: 0 } };
  }

  *#lines({ at, upTo }: ExportPlace): Generator<Line, void> {
    if (at.part !== "entry") {
      yield* this.#restOfThread(at);
      const { lists, compactions } = this.#deps.stores;
      for (const thread of lists.exported(at.n, upTo)) {
        const { n, forkSeq, lastSeq } = thread;
        const section = { n, forkSeq, lastSeq, compactedAt: compactions.lastCreatedAt(thread) };
        const first = { ...section, part: "hidden", after: 0 } as const;
        yield { pieces: [JSON.stringify(threadLine(thread))], next: first };
        yield* this.#restOfThread(first);
      }
    }
    yield* this.#entries(at.part === "entry" ? at : { part: "entry", after: null });
  }

  /** The rest of a thread's section: hidden seqs of shared messages, its own messages, compactions. */
  *#restOfThread(at: Exclude<Spot, { part: "entry" }>): Generator<Line, void> {
    if (at.part === "thread") return;
    const { n, forkSeq, lastSeq, compactedAt } = at;
    const section = { n, forkSeq, lastSeq, compactedAt };
    const id = this.#deps.stores.threads.idOf(n);
    // Its last messages went with it meanwhile.
    if (id === null) return;
    if (at.part === "hidden") yield* this.#hidden(section, id, at.after);
    if (at.part !== "compaction") yield* this.#messages(section, id, at.part === "message" ? at.after : 0);
    yield* this.#compactions(section, id, at.part === "compaction" ? at.after : [0, ""]);
  }

  *#messages(section: ExportedExtent, threadId: string, after: number): Generator<Line, void> {
    const { n, lastSeq } = section;
    const { messages, hidden: hiddenMessages } = this.#deps.stores;
    const hides = hiddenMessages.hasAny(section);
    const own = messages.read(positionsOf({ n, from: after + 1, to: lastSeq }), {
      order: "oldest",
      hiddenIn: null,
    });
    for (const { seq, body, createdAt } of own) {
      const marked = messages.isStanding(positionOf(n, seq)) && { standing: true };
      const fields = { type: "message", threadId, seq, createdAt, ...marked };
      const pieces = inlineOrText(fields, "message", body);
      const next = { ...section, part: "message", after: seq } as const;
      const hidden = hides && hiddenMessages.has(section, positionOf(n, seq));
      yield hidden
        ? { pieces: [...pieces, "\n", hiddenLine(threadId, seq)], count: 2, next }
        : { pieces, next };
    }
  }

  /** Hidden seqs of shared messages, also of deleted ones: an earlier page may contain them. */
  *#hidden(section: ExportedExtent, threadId: string, after: number): Generator<Line, void> {
    for (const seq of this.#deps.stores.hidden.seqs(section, [after, section.forkSeq]))
      yield { pieces: [hiddenLine(threadId, seq)], next: { ...section, part: "hidden", after: seq } };
  }

  *#compactions(
    section: ExportedExtent,
    threadId: string,
    after: readonly [from: number, id: string],
  ): Generator<Line, void> {
    for (let last = after, more = true; more;) {
      const page = this.#deps.stores.compactions.list(section, { after: last, limit: 100 });
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
    const { entryStore, now } = this.#deps;
    const again = head !== undefined && entryStore.version(head.key) !== head.version;
    let last = again ? undefined : head;
    const from = again ? { key: head.key, included: true } : { key: after ?? "", included: false };
    for (const { key, value, version, updatedAt, expiresAt, refreshMs } of entryStore.from(from, now())) {
      const fields = {
        type: "entry",
        key,
        version,
        updatedAt,
        ...(expiresAt !== null && { expiresAt }),
        ...(refreshMs !== null && { refreshMs }),
      };
      if (partsNamedIn(value) !== null) last = { key, version };
      else if (last?.key !== ownerKeyOf(key)) last = undefined;
      yield {
        pieces: inlineOrText(fields, "value", value),
        next: { part: "entry", after: key, ...(last && { head: last }) },
      };
    }
  }
}

const hiddenLine = (threadId: string, seq: number): string =>
  JSON.stringify({ type: "hidden", threadId, seq });

/** `parent` is who owns the messages up to `seq` that the thread shares. A deleted thread is there for its forks. */
const threadLine = (thread: ExportedThread) => ({
  type: "thread",
  id: thread.id,
  title: thread.title,
  agent: thread.agent,
  resourceSlug: thread.resourceSlug,
  recordId: thread.recordId,
  metadata: thread.metadata,
  indexing: thread.indexing,
  retention: thread.retention,
  owners: thread.speakers?.owners ?? undefined,
  lastSeq: thread.lastSeq,
  ...(thread.parentId !== null && { parent: { threadId: thread.parentId, seq: thread.forkSeq } }),
  forkedFrom: thread.forkedFrom?.threadId,
  ...(thread.deleted && { deleted: true }),
  createdAt: thread.createdAt,
  updatedAt: thread.updatedAt,
});
