import { carriesResults } from "../../src/conversation/sanitize.ts";
import { limits } from "../../src/limits.ts";
import type { Message } from "../../src/schema/thread.ts";
import type { CompactionRange, CompactionStore } from "./compaction-store.ts";
import type { Lineage } from "./lineage.ts";
import type { MessageStore, StoredMessage } from "./message-store.ts";
import { positionOf } from "./position.ts";
import type { StoredThread } from "./thread-store.ts";

export type MessagesQuery = {
  /** `newest`: the last ones before `from`; `oldest`: the first ones after it. */
  order: "newest" | "oldest";
  from?: number;
  limit: number;
  /** `compacted`: summaries in the place of what they stand for. */
  view: "raw" | "compacted";
  /** Never cuts a page between a tool call and its results, as long as they are no more than `limits.turnBytes`. */
  wholeTurns: boolean;
};
/** A message of a page; `compaction` if it is a summary. */
export type ReadMessage = StoredMessage & { compaction?: { id: string; from: number; to: number } };
export type MessagePage = { items: ReadMessage[]; more: boolean };

/** A stretch that one thread owns, or a summary that stands for one. */
type Span = { n: number; from: number; to: number } | CompactionRange;

/** Reads the messages of a thread, wherever they lie. */
export class ThreadReader {
  readonly #messages: MessageStore;
  readonly #lineage: Lineage;
  readonly #compactions: CompactionStore;

  constructor(messages: MessageStore, lineage: Lineage, compactions: CompactionStore) {
    this.#messages = messages;
    this.#lineage = lineage;
    this.#compactions = compactions;
  }

  /** One after another, as they are asked for: a thread is never in memory as a whole. */
  *walk(
    thread: StoredThread,
    { order, from, view }: Pick<MessagesQuery, "order" | "from" | "view">,
  ): Generator<ReadMessage> {
    const hidden = this.#lineage.hidden(thread);
    const newest = order === "newest";
    const [above, below] = newest ? [0, from ?? Infinity] : [from ?? 0, Infinity];
    const spans = this.#spans(thread, view);
    for (const span of newest ? spans.toReversed() : spans) {
      if ("id" in span) {
        if (span.to > above && span.to < below) yield this.#summary(thread, span);
        continue;
      }
      const first = Math.max(span.from, above + 1);
      const last = Math.min(span.to, below - 1);
      if (first > last) continue;
      for (const message of this.#messages.read([positionOf(span.n, first), positionOf(span.n, last)], order))
        if (!hidden.has(message.seq)) yield message;
    }
  }

  /**
   * A page, always in the order of the conversation, and cut short rather than grow past `limits.pageBytes`; a turn
   * that must not be cut may grow to `limits.turnBytes`.
   */
  page(thread: StoredThread, query: MessagesQuery): MessagePage {
    const { order, limit, wholeTurns } = query;
    const items: ReadMessage[] = [];
    let bytes = 0;
    for (const message of this.walk(thread, query)) {
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
    return { seq: to, body: this.#compactions.summary(thread, id), createdAt, compaction: { id, from, to } };
  }

  /** The thread's stretches, cut where a summary stands for a part of them. */
  #spans(thread: StoredThread, view: "raw" | "compacted"): Span[] {
    const segments = this.#lineage.segments(thread);
    if (view === "raw") return segments;
    const spans: Span[] = [];
    let next = 1;
    for (const compaction of this.#compactions.shown(thread)) {
      spans.push(...clipped(segments, next, compaction.from - 1), compaction);
      next = compaction.to + 1;
    }
    return [...spans, ...clipped(segments, next, Infinity)];
  }
}

const inOrder = (items: ReadMessage[], order: "newest" | "oldest"): ReadMessage[] =>
  order === "newest" ? items.toReversed() : items;

const decoder = new TextDecoder();

/** A stored message. */
export const parsed = (body: Uint8Array): Message => JSON.parse(decoder.decode(body)) as Message;

const clipped = (
  segments: readonly { n: number; from: number; to: number }[],
  from: number,
  to: number,
): Span[] =>
  segments
    .map((one) => ({ n: one.n, from: Math.max(one.from, from), to: Math.min(one.to, to) }))
    .filter((one) => one.from <= one.to);
