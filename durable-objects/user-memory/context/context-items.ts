import {
  type ContextItem,
  type NumberedPlace,
  type Place,
  untilOf,
} from "../../../src/domain/context/item.ts";
import { type LayerName, memoryItem } from "../../../src/domain/context/layers/rules.ts";
import { day, oneLine, quoted } from "../../../src/domain/conversation/stored-text.ts";
import { searchableText } from "../../../src/domain/memory/message-text.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { Hit } from "../../../src/domain/schema/recall.ts";
import type { PlacedSection } from "../../../src/contract/user-memory.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import { isMessage, positionOf, seqOf } from "../core/position.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import {
  type DocumentOfMessage,
  type Documents,
  isOfMessage,
  withoutSpeaker,
} from "../search-index/documents.ts";
import type { CompactionStore } from "../threads/compaction-store.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import { type ContextStore, keyOf } from "./context-store.ts";
import { NO_SHARED, type SharedItems, sharedKey } from "./shared-owners.ts";
import type { StandingMessages } from "./standing-messages.ts";

export type ItemDependencies = {
  store: ContextStore;
  table: MemoryTable;
  memorySource: MemoryDocuments;
  documents: Documents;
  entries: EntryStore;
  stores: ThreadStores;
  messages: ThreadMessages;
  standing: StandingMessages;
};

/** The place of a hit, and its score. */
export type ScoredPlace = { place: Place; score: number };

/** `lost`: the number of places where nothing is any more. */
export type ResolvedSection = { layer: LayerName; items: ContextItem[]; lost: number };

/** The finds at the places of a block, by their numbers. */
type FoundRows = {
  rows: ReadonlyMap<number, MemoryRow>;
  /** Ids of memories that have ended. */
  expired: ReadonlySet<string>;
  read: ReadonlyMap<number, DocumentOfMessage>;
  there: ReadonlySet<number>;
  threads: ReadonlyMap<number, string>;
  shared: SharedItems;
  now: number;
};

/** Reads the items at the places of hits and of stored blocks. */
export class ContextItems {
  readonly #deps: ItemDependencies;

  constructor(deps: ItemDependencies) {
    this.#deps = deps;
  }

  /** The places of hits of recall, in their order. `whole`: of their whole texts, and not of passages. */
  placesOf(hits: readonly Hit[], { whole = false }: { whole?: boolean } = {}): ScoredPlace[] {
    const { stores } = this.#deps;
    const ids = new Set(hits.flatMap(({ threadId }) => threadId ?? []));
    const threads = new Map(Array.from(ids, (id) => [id, stores.threads.get(id)]));
    return hits.flatMap((hit): ScoredPlace[] => {
      const part = whole ? { ...hit, passage: { start: 0, end: hit.text.length } } : hit;
      const place = this.#placeOf(part, threads);
      return place === null ? [] : [{ place, score: hit.score }];
    });
  }

  /** The items at the places of hits, with their scores. */
  itemsOf(layer: LayerName, hits: readonly ScoredPlace[], now: number): ContextItem[] {
    const scores = new Map(hits.map(({ place, score }) => [keyOf(place), score]));
    const places = hits.map(({ place }) => place);
    return this.itemsAt({ layer, places }, now).map((item) => ({
      ...item,
      score: scores.get(keyOf(item.place)) ?? 0,
    }));
  }

  /** The items at some places, those left out where nothing is any more. */
  itemsAt(section: PlacedSection, now: number): ContextItem[] {
    return this.resolve([section], now).flatMap(({ items }) => items);
  }

  /** Reads the items of a stored block; `shared`: those of shared owners. */
  resolve(
    sections: readonly PlacedSection[],
    now: number,
    shared: SharedItems = NO_SHARED,
  ): ResolvedSection[] {
    const found = this.#read(sections, now, shared);
    return sections.map(({ layer, places }) => {
      const items = places.map((place) => this.#itemAt(layer, place, found));
      const left = items.filter((item) => item !== null);
      return { layer, items: left, lost: items.length - left.length };
    });
  }

  /** Reads the rows of all places in one go. */
  #read(sections: readonly PlacedSection[], now: number, shared: SharedItems): FoundRows {
    const { table, memorySource, documents, stores, messages } = this.#deps;
    const numbers = sections.flatMap(({ places }) => places.flatMap(numbersOf));
    const rows = new Map(
      table.numbered(numbers.filter((n) => !isMessage(n))).map((row) => [row.version, row]),
    );
    // A later version may have set the time at which the memory ends.
    const former = [...rows.values()].filter(({ correctedAt }) => correctedAt !== null);
    const expired = new Set(
      memorySource.expiredAmong(
        former.map(({ id }) => id),
        now,
      ),
    );
    const positions = numbers.filter(isMessage);
    const read = new Map(
      documents
        .read(positions)
        .filter(isOfMessage)
        .map((document) => [document.n, document]),
    );
    const there = stores.messages.present(positions);
    const threads = messages.threadsOf(positions);
    return { rows, expired, read, there, threads, shared, now };
  }

  /** The item at a place; null where nothing is any more. */
  #itemAt(layer: LayerName, place: Place, found: FoundRows): ContextItem | null {
    if ("key" in place) return this.#entryAt(place, found.now);
    if ("compaction" in place) {
      const { compactions } = this.#deps.stores;
      const thread = { n: place.thread };
      return compactions.has(thread, place.compaction)
        ? summaryItem(compactions, thread, place.compaction)
        : null;
    }
    if (place.owner !== undefined) {
      const item = found.shared.get(sharedKey(layer, place));
      return typeof item === "object" ? item : null;
    }
    return isMessage(place.n) ? this.#messageAt(place, found) : memoryAt(layer, place, found);
  }

  #entryAt(place: Extract<Place, { key: string }>, now: number): ContextItem | null {
    const { entries, store } = this.#deps;
    // An expired entry may not be deleted yet, and a later value may have taken its place.
    const live = entries.get(place.key, now);
    const text = live === null ? null : store.entryText(place, live.version === place.version ? 0 : now);
    return text === null ? null : lineOfEntry(place, text);
  }

  #messageAt(place: NumberedPlace, { read, there, threads }: FoundRows): ContextItem | null {
    const document = read.get(place.n);
    const id = threads.get(place.n);
    if (document === undefined || id === undefined || !there.has(place.n)) return null;
    // Another message may have taken its place.
    if (place.standing !== undefined)
      return this.#deps.standing.in(document, id).find((item) => keyOf(item.place) === keyOf(place)) ?? null;
    const { name, role } = document.message;
    const whole = withoutSpeaker(document.text, document.message);
    const [start, end] = place.passage ?? [0, whole.length];
    const text = `${start > 0 ? "… " : ""}${oneLine(whole.slice(start, end))}${end < whole.length ? " …" : ""}`;
    const speaker = `${name === undefined ? role : quoted(name)} said`;
    return {
      id: `${id}:${seqOf(place.n)}`,
      place,
      shown: { text: `[${speaker} | ${day(document.createdAt)}${untilOf(place)}] ${text}` },
    };
  }

  /** Keeps the values of entries, which have no history, as long as a block shows them. */
  keepEntries(thread: number, items: readonly ContextItem[], now: number): void {
    for (const { place } of items)
      if ("key" in place) {
        const entry = this.#deps.entries.get(place.key, now);
        if (entry !== null && entry.version === place.version)
          this.#deps.store.copyEntry(thread, place, {
            text: valueText(entry.value),
            expiresAt: entry.expiresAt ?? null,
          });
      }
  }

  #placeOf(hit: Hit, threads: ReadonlyMap<string, StoredThread | null>): Place | null {
    const { passage, threadId, seq, version, validTo, replacedAt } = hit;
    const end = validTo ?? replacedAt;
    const until = end === undefined ? {} : { until: end };
    const part = passage === undefined ? {} : { passage: [passage.start, passage.end] as const };
    if (threadId === undefined || seq === undefined)
      return version === undefined ? null : { n: version, ...part, ...until };
    const thread = threads.get(threadId) ?? null;
    if (thread === null) return null;
    // The recall has just found the message, and the item looks if it is there.
    const owner = this.#deps.stores.lineage.owner(thread, seq);
    return { n: positionOf(owner, seq), ...part, ...until };
  }
}

const decoder = new TextDecoder();
/** More bytes of a value than an item shows. */
const VALUE_BYTES = 8 * 1024;

/** The text of an entry's value, or the beginning of a long one: a call may ask for a hundred values of 1 MiB. */
const valueText = (value: Uint8Array): string =>
  value.byteLength <= VALUE_BYTES
    ? decoder.decode(value)
    : `${decoder.decode(value.subarray(0, VALUE_BYTES))}… (cut)`;

/** The item of an entry, with its value or the beginning of a long one. */
export const entryItem = (place: Extract<Place, { key: string }>, value: Uint8Array): ContextItem =>
  lineOfEntry(place, valueText(value));

const lineOfEntry = (place: Extract<Place, { key: string }>, text: string): ContextItem => ({
  id: place.key,
  place,
  shown: { text: `[${place.key}]: ${text}` },
});

/** The item of a thread's compaction. */
export function summaryItem(
  compactions: CompactionStore,
  thread: Pick<StoredThread, "n">,
  id: string,
): ContextItem {
  const { text } = searchableText(parsed(compactions.summary(thread, id)));
  return { id, place: { compaction: id, thread: thread.n }, shown: { text } };
}

/** The numbers of this object's documents at a place. */
const numbersOf = (place: Place): number[] =>
  "n" in place && place.owner === undefined ? [place.n, ...(place.was === undefined ? [] : [place.was])] : [];

/** The memory at a place: as it is, with the version before it, or as no longer true. */
function memoryAt(
  layer: LayerName,
  place: NumberedPlace,
  { rows, expired, now }: FoundRows,
): ContextItem | null {
  const row = rows.get(place.n);
  if (row === undefined || row.status !== "active" || expired.has(row.id)) return null;
  if ((row.expiresAt ?? Infinity) < now) return null;
  const item = memoryItem(layer, row, place);
  if (place.was === undefined) return item;
  if (place.was === place.n) return { ...item, shown: { text: `no longer true: ${item.shown.text}` } };
  const before = rows.get(place.was);
  // The former version may be forgotten by itself.
  return before === undefined
    ? item
    : { ...item, shown: { text: `${item.shown.text} (before: ${oneLine(before.text)})` } };
}
