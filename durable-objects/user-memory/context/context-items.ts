import type { PlacedSection } from "../../../src/contract/user-memory.ts";
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
import { type ContextStore, keyOf, type Rendering } from "./context-store.ts";
import { type Section, textOf } from "./fitted-sections.ts";
import type { InstructionMessages } from "./instruction-messages.ts";
import { NO_SHARED, type SharedItems, sharedKey } from "./shared-owners.ts";

export type ItemDependencies = {
  store: ContextStore;
  table: MemoryTable;
  memorySource: MemoryDocuments;
  documents: Documents;
  entries: EntryStore;
  stores: ThreadStores;
  messages: ThreadMessages;
  instructions: InstructionMessages;
};

/** The place of a hit, and its score. */
type ScoredPlace = { place: Place; score: number };
type EntryPlace = Extract<Place, { key: string }>;
type Block = Rendering & { sections: readonly PlacedSection[] };
/** A stored block as it is now. `left`: its places without those where nothing is; `isReduced`: there are such. */
export type BlockNow = { sections: Section[]; text: string; left: PlacedSection[]; isReduced: boolean };

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

  /** The items at places of hits, with their scores. */
  itemsOf(layer: LayerName, hits: readonly ScoredPlace[], now: number): ContextItem[] {
    const scores = new Map(hits.map(({ place, score }) => [keyOf(place), score]));
    const places = hits.map(({ place }) => place);
    return this.itemsAt(layer, places, now).map((item) => ({
      ...item,
      score: scores.get(keyOf(item.place)) ?? 0,
    }));
  }

  /** The items at some places, those left out where nothing is any more. */
  itemsAt(layer: LayerName, places: Place[], now: number): ContextItem[] {
    return this.sections([{ layer, places }], now).flatMap(({ items }) => items);
  }

  /** The same of several sections, read in one go; `shared`: the items of shared owners. */
  sections(sections: readonly PlacedSection[], now: number, shared: SharedItems = NO_SHARED): Section[] {
    const places = sections.flatMap((one) => one.places);
    const itemAt = this.#reader(places, now, shared);
    return sections.map(({ layer, places: own }) => ({
      layer,
      items: own.map((place) => itemAt(layer, place)).filter((item) => item !== null),
    }));
  }

  /** Stored blocks by their names, read in one go. A shared owner that does not answer may be back later, so its places are left. */
  blocks<Name>(
    blocks: ReadonlyMap<Name, Block>,
    now: number,
    shared: SharedItems = NO_SHARED,
  ): Map<Name, BlockNow> {
    const all = this.sections(
      Array.from(blocks.values()).flatMap(({ sections }) => sections),
      now,
      shared,
    ).values();
    return new Map(
      Array.from(blocks, ([name, block]) => {
        const sections = block.sections.flatMap(() => all.next().value ?? []);
        const left = block.sections.map(({ layer, places }, i) => {
          const keys = new Set(sections[i]?.items.map(({ place }) => keyOf(place)));
          const isLeft = (place: Place) =>
            keys.has(keyOf(place)) || shared.get(sharedKey(layer, place)) === "away";
          return { layer, places: places.filter(isLeft) };
        });
        const isReduced = block.sections.some(({ places }, i) => sections[i]?.items.length !== places.length);
        return [name, { sections, text: textOf(sections, block), left, isReduced }];
      }),
    );
  }

  /** Reads the rows of all places in one go, for the item at each; null where nothing is any more. */
  #reader(
    all: readonly Place[],
    now: number,
    shared: SharedItems,
  ): (layer: LayerName, place: Place) => ContextItem | null {
    const { table, memorySource, documents, stores, messages } = this.#deps;
    const numbers = all.flatMap(numbersOf);
    const versions = numbers.filter((n) => !isMessage(n));
    const rows = new Map(table.numbered(versions).map((row) => [row.version, row]));
    // A later version may have set the time at which the memory ends.
    const former = [...rows.values()].filter(({ correctedAt }) => correctedAt !== null);
    const ids = former.map(({ id }) => id);
    const expired = new Set(memorySource.expiredAmong(ids, now));
    const positions = numbers.filter(isMessage);
    const ofMessages = documents.read(positions).filter(isOfMessage);
    const texts = new Map(ofMessages.map((document) => [document.n, document]));
    const present = stores.messages.present(positions);
    const threads = messages.threadsOf(positions);
    return (layer, place) => {
      if ("key" in place) return this.#entryAt(place, now);
      if ("compaction" in place) return this.#summaryAt(place);
      if (place.owner !== undefined) {
        const item = shared.get(sharedKey(layer, place));
        return typeof item === "object" ? item : null;
      }
      const [document, thread, row] = [texts.get(place.n), threads.get(place.n), rows.get(place.n)];
      if (document !== undefined && thread !== undefined && present.has(place.n))
        return this.#messageAt(place, document, thread);
      if (row === undefined || row.status !== "active" || expired.has(row.id)) return null;
      if ((row.expiresAt ?? Infinity) < now) return null;
      return memoryAt(layer, place, {
        row,
        before: place.was === undefined ? undefined : rows.get(place.was),
      });
    };
  }

  #entryAt(place: EntryPlace, now: number): ContextItem | null {
    const { entries, store } = this.#deps;
    // An expired entry may not be deleted yet, and a later value may have taken its place.
    const live = entries.get(place.key, now);
    const text = live === null ? null : store.entryText(place, live.version === place.version ? 0 : now);
    return text === null ? null : lineOfEntry(place, text);
  }

  #summaryAt({ compaction, thread: n }: Extract<Place, { compaction: string }>): ContextItem | null {
    const { compactions } = this.#deps.stores;
    return compactions.has({ n }, compaction) ? summaryItem(compactions, { n }, compaction) : null;
  }

  #messageAt(place: NumberedPlace, document: DocumentOfMessage, thread: string): ContextItem | null {
    // Another message may have taken its place.
    if (place.standing !== undefined)
      return (
        this.#deps.instructions.in(document, thread).find((item) => keyOf(item.place) === keyOf(place)) ??
        null
      );
    const { name, role } = document.message;
    const whole = withoutSpeaker(document.text, document.message);
    const [start, end] = place.passage ?? [0, whole.length];
    const text = `${start > 0 ? "… " : ""}${oneLine(whole.slice(start, end))}${end < whole.length ? " …" : ""}`;
    const speaker = `${name === undefined ? role : quoted(name)} said`;
    return {
      id: `${thread}:${seqOf(place.n)}`,
      place,
      shown: { text: `[${speaker} | ${day(document.createdAt)}${untilOf(place)}] ${text}` },
    };
  }

  /** Copies the values of entries, which have no history, for as long as a block shows them. */
  copyEntries(thread: number, sections: readonly Section[], now: number): void {
    const places = sections.flatMap(({ items }) => items.map(({ place }) => place));
    for (const place of places.filter((one) => "key" in one)) {
      const entry = this.#deps.entries.get(place.key, now);
      if (entry?.version !== place.version) continue;
      const copy = { text: valueText(entry.value), expiresAt: entry.expiresAt ?? null };
      this.#deps.store.copyEntry(thread, place, copy);
    }
  }

  #placeOf(hit: Hit, threads: ReadonlyMap<string, StoredThread | null>): Place | null {
    const { passage, threadId, seq, version, validTo, replacedAt } = hit;
    const end = validTo ?? replacedAt;
    const more = {
      ...(passage !== undefined && { passage: [passage.start, passage.end] as const }),
      ...(end !== undefined && { until: end }),
    };
    if (threadId === undefined || seq === undefined)
      return version === undefined ? null : { n: version, ...more };
    const thread = threads.get(threadId) ?? null;
    if (thread === null) return null;
    // The recall has just found the message, and the item looks if it is there.
    const owner = this.#deps.stores.lineage.owner(thread, seq);
    return { n: positionOf(owner, seq), ...more };
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
export const entryItem = (place: EntryPlace, value: Uint8Array): ContextItem =>
  lineOfEntry(place, valueText(value));

const lineOfEntry = (place: EntryPlace, text: string): ContextItem => ({
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
  { row, before }: { row: MemoryRow; before: MemoryRow | undefined },
): ContextItem {
  const item = memoryItem(layer, row, place);
  // The former version may be forgotten by itself.
  if (before === undefined) return item;
  const { text } = item.shown;
  const change =
    place.was === place.n ? `no longer true: ${text}` : `${text} (before: ${oneLine(before.text)})`;
  return { ...item, shown: { text: change } };
}
