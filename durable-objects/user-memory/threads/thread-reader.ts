import { carriesResults } from "../../../src/domain/conversation/sanitize.ts";
import { limits } from "../../../src/domain/limits.ts";
import type { CompactionStore } from "./compaction-store.ts";
import type { HiddenMessages } from "./hidden-messages.ts";
import type { Lineage } from "./lineage.ts";
import { parsed } from "./message-documents.ts";
import type { MessageStore } from "./message-store.ts";
import { LAST_SEQ, positionsOf } from "../core/position.ts";
import { type Span, spans } from "./spans.ts";
import type { StoredThread } from "./thread-row.ts";
import type { MessagePage, ReadMessage } from "../../../src/domain/page-json.ts";
import type { CompactionRange, MessagesQuery } from "../../../src/contract/user-memory.ts";

type Stores = {
  messages: MessageStore;
  lineage: Lineage;
  compactions: CompactionStore;
  hidden: HiddenMessages;
};

type Walk = Pick<MessagesQuery, "order" | "view"> & {
  from?: number | undefined;
  slice?: number;
  role?: string | undefined;
};

/** Reads the messages of a thread, wherever they lie. */
export class ThreadReader {
  readonly #stores: Stores;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** One after another: a thread is never in memory as a whole. `slice`: how many are read at a time; `role`: only its texts. */
  *walk(thread: StoredThread, { order, from, view, slice, role }: Walk): Generator<ReadMessage> {
    const hiddenIn = this.#stores.hidden.hasAny(thread) ? thread.n : null;
    for (const span of this.#spans(thread, { order, from, view })) {
      if ("id" in span) yield this.#summary(thread, span);
      else
        yield* this.#stores.messages.read(positionsOf(span), {
          order,
          hiddenIn,
          role,
          ...(slice !== undefined && { slice }),
        });
    }
  }

  /** The seq of the last message; 0 if there is none. */
  lastSeq(thread: StoredThread): number {
    const [last] = this.walk(thread, { order: "newest", view: "raw", slice: 1 }).take(1);
    return last?.seq ?? 0;
  }

  /**
   * A page, always in the order of the conversation, and cut short rather than grow past `limits.pageBytes`; a turn
   * that must not be cut may grow to `limits.turnBytes`.
   */
  page(thread: StoredThread, query: MessagesQuery): MessagePage {
    const { order, limit, wholeTurns } = query;
    const items: ReadMessage[] = [];
    let bytes = 0;
    // One message more than the limit shows whether there are more.
    for (const message of this.walk(thread, { ...query, slice: limit + 1 })) {
      bytes += message.body.byteLength;
      const full = items.length >= limit || (items.length > 0 && bytes > limits.pageBytes);
      // A turn is cut if the message on the later side of the cut belongs to the one on its earlier side.
      const later = order === "newest" ? items.at(-1) : message;
      const within = () =>
        wholeTurns && bytes <= limits.turnBytes && later !== undefined && carriesResults(parsed(later.body));
      if (full && !within()) return { items: inOrder(items, order), more: true };
      items.push(message);
    }
    return { items: inOrder(items, order), more: false };
  }

  #summary(thread: StoredThread, { id, from, to, createdAt }: CompactionRange): ReadMessage {
    const body = this.#stores.compactions.summary(thread, id);
    return { seq: to, body, createdAt, compaction: { id, from, to } };
  }

  #spans(thread: StoredThread, { order, from, view }: Walk): Iterable<Span> {
    const newest = order === "newest";
    const summaries = view === "raw" ? [] : this.#stores.compactions.shown(thread);
    const first = newest ? 1 : (from ?? 0) + 1;
    const last = newest ? (from ?? LAST_SEQ + 1) - 1 : LAST_SEQ;
    const segments = this.#stores.lineage.segments(thread, first);
    return newest
      ? spans(segments, summaries.toReversed(), { order, within: [first, last] })
      : spans([...segments].toReversed(), summaries, { order, within: [first, last] });
  }
}

const inOrder = (items: ReadMessage[], order: "newest" | "oldest"): ReadMessage[] =>
  order === "newest" ? items.toReversed() : items;
