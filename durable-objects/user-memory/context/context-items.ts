import { and, eq } from "drizzle-orm";
import type { LayerName, Shown } from "../../../src/domain/context/block.ts";
import { withoutReplaced, wordsOf } from "../../../src/domain/context/replaced-standing.ts";
import { isOfOwner, type Speakers, UNNAMED } from "../../../src/domain/conversation/speakers.ts";
import type { PlannedLayer } from "../../../src/domain/context/layers.ts";
import { hash32 } from "../../../src/domain/hash.ts";
import { day, oneLine, quoted } from "../../../src/domain/conversation/stored-text.ts";
import { memories } from "../../../src/domain/memory/table.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { ContextLayer } from "../../../src/domain/schema/context.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import type { MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import type { Hit } from "../../../src/domain/schema/recall.ts";
import { filterConditions, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import { isMessage, positionOf, seqOf } from "../core/position.ts";
import { toSqlCondition } from "../core/sql-condition.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import {
  type Document,
  type DocumentOfMessage,
  type Documents,
  isOfMessage,
  withoutSpeaker,
} from "../search-index/documents.ts";
import { parsed } from "../threads/message-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { ContextItem, Place, PlacedSection } from "../../../src/contract/user-memory.ts";
import { type ContextStore, keyOf } from "./context-store.ts";
import { NO_SHARED, type SharedItems, sharedKey } from "./shared-owners.ts";
import { searchableText } from "../../../src/domain/memory/message-text.ts";

export type ItemDependencies = {
  store: ContextStore;
  table: MemoryTable;
  documents: Documents;
  entries: EntryStore;
  stores: ThreadStores;
  messages: ThreadMessages;
};

/** The place of a hit, and its score. */
export type ScoredPlace = { place: Place; score: number };

/** `lost`: the number of places where nothing is any more. */
export type ResolvedSection = { layer: LayerName; items: ContextItem[]; lost: number };

type NumberedPlace = Extract<Place, { n: number }>;

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

/** The rows that a layer chooses from: two layers with the same kind and tags share one read. */
type RowsOf = (kind: MemoryKind, layer: { tags?: string[] | undefined }) => MemoryRow[];

/** Versions that a layer chooses from: pinned ones, and so many of the important and of the newest. */
const CONSIDERED = 64;
/** Memories with this tag come first. */
const PINNED = "pinned";
const PINNED_MOST = 200;
/** Messages with instructions or preferences that the layer reads at once, until it has so many wordings or has read the most. */
const [STANDING, STANDING_MOST] = [64, 512];
/** The importance of a memory without one. */
const USUAL_IMPORTANCE = 0.5;

/** Selects what a layer shows, and finds what a stored block shows. */
export class ContextItems {
  readonly #deps: ItemDependencies;

  constructor(deps: ItemDependencies) {
    this.#deps = deps;
  }

  /** The items of each layer, the best first; of one that searches, those besides. */
  ofLayers(
    layers: readonly PlannedLayer[],
    about: { now: number; scope: string | undefined; thread: StoredThread | null },
  ): Map<PlannedLayer, ContextItem[]> {
    const read = new Map<string, MemoryRow[]>();
    const rows: RowsOf = (kind, { tags = [] }) => {
      const key = JSON.stringify([kind, tags]);
      const known = read.get(key) ?? this.#rows(kind, tags, about);
      read.set(key, known);
      return known;
    };
    return new Map(layers.map((layer) => [layer, this.#ofLayer(layer, { ...about, rows })]));
  }

  #ofLayer(
    { layer }: PlannedLayer,
    {
      now,
      scope,
      thread,
      rows: rowsOf,
    }: { now: number; scope: string | undefined; thread: StoredThread | null; rows: RowsOf },
  ): ContextItem[] {
    switch (layer.type) {
      case "instructions":
        // A message has no scope.
        return scope === undefined ? this.#instructions() : [];
      case "profile":
      case "facts": {
        const rows = rowsOf("fact", layer);
        const wanted = rows.filter(
          ({ subject, predicate }) => layer.type === "facts" || (subject !== null && predicate !== null),
        );
        const former = this.#deps.table.supersededBy(wanted.map(({ version }) => version));
        return bestFirst(wanted).map((row) => {
          const place = { n: row.version, ...(former.has(row.version) && { replaces: true as const }) };
          return itemOf(layer.type, row, place);
        });
      }
      case "reflections":
        return newestFirst(rowsOf("reflection", layer)).map((row) => itemOf("reflections", row));
      case "episodes":
        return newestFirst(rowsOf("episode", layer))
          .slice(0, layer.recent ?? 5)
          .map((row) => itemOf("episodes", row));
      case "entries":
        return this.#entries(layer, now);
      case "summary":
        return thread === null ? [] : this.#summaries(thread);
      default:
        return [];
    }
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
    const numbers = sections.flatMap(({ places }) =>
      places.flatMap((place) =>
        "n" in place && place.owner === undefined
          ? [place.n, ...(place.was === undefined ? [] : [place.was])]
          : [],
      ),
    );
    const { table, documents, stores, messages } = this.#deps;
    const rows = new Map(
      table.numbered(numbers.filter((n) => !isMessage(n))).map((row) => [row.version, row]),
    );
    // A later version may have set the time at which the memory ends.
    const former = [...rows.values()].filter(({ correctedAt }) => correctedAt !== null);
    const expired = new Set(
      table.expiredAmong(
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
    const found = { rows, expired, read, there, threads, shared, now };
    return sections.map(({ layer, places }) => {
      const items = places.map((place) => this.#itemAt(layer, place, found));
      const left = items.filter((item) => item !== null);
      return { layer, items: left, lost: items.length - left.length };
    });
  }

  /** The item at a place; null where nothing is any more. */
  #itemAt(layer: LayerName, place: Place, found: FoundRows): ContextItem | null {
    if ("key" in place) return this.#entryAt(place, found.now);
    if ("compaction" in place)
      return this.#deps.stores.compactions.has({ n: place.thread }, place.compaction)
        ? this.#summary({ n: place.thread }, place.compaction)
        : null;
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
    return text === null ? null : { id: place.key, place, shown: { text: `[${place.key}]: ${text}` } };
  }

  #messageAt(place: NumberedPlace, { read, there, threads }: FoundRows): ContextItem | null {
    const document = read.get(place.n);
    const id = threads.get(place.n);
    if (document === undefined || id === undefined || !there.has(place.n)) return null;
    // Another message may have taken its place.
    if (place.standing !== undefined)
      return this.#standingItems(document, id).find((item) => keyOf(item.place) === keyOf(place)) ?? null;
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

  #rows(
    kind: MemoryKind,
    tags: string[],
    { now, scope }: { now: number; scope: string | undefined },
  ): MemoryRow[] {
    const { table } = this.#deps;
    const filter: MemoryFilter = {
      ...(tags.length > 0 && { tags }),
      ...(scope !== undefined && { scope: [scope] }),
    };
    const condition = (more: MemoryFilter = {}) =>
      toSqlCondition(
        and(visibleAt({ now }), eq(memories.status, "active"), ...filterConditions({ ...filter, ...more })),
      );
    const pinned = { kinds: [kind], tags: [...tags, PINNED] };
    const versions = [
      ...(table.few({ tags: pinned.tags }, condition(pinned), PINNED_MOST) ?? []),
      ...(table.few({ ...filter, kinds: [kind] }, condition({ kinds: [kind] }), CONSIDERED) ??
        table.leading(kind, condition(), CONSIDERED)),
    ];
    return table.numbered([...new Set(versions)]);
  }

  /** The instructions that hold, then the preferences, the newest first. */
  #instructions(): ContextItem[] {
    const { found, said } = this.#said();
    const holding = Map.groupBy(withoutReplaced(said), ({ place }) => place.n);
    return found.flatMap(({ n }) => holding.get(n) ?? []);
  }

  /** An app may send one instruction with each message: others are behind it. `said`: the newest first. */
  #said(): { found: readonly Document[]; said: readonly StandingItem[] } {
    const { stores, messages } = this.#deps;
    const found: Document[] = [];
    const read = new Map<string, Speakers | null>();
    for (;;) {
      const page = stores.messages.standing(STANDING, found.length);
      found.push(...page);
      const threads = messages.threadsOf(found.map(({ n }) => n));
      const said = found
        .toSorted((a, b) => b.createdAt - a.createdAt || b.n - a.n)
        .flatMap((document) => {
          const id = threads.get(document.n);
          return id === undefined ? [] : this.#standingItems(document, id, read).toReversed();
        });
      const wordings = new Set(said.map((one) => wordsOf(one.said)));
      if (page.length < STANDING || found.length >= STANDING_MOST || wordings.size >= STANDING)
        return { found, said };
    }
  }

  /** The passages of a message that hold from then on, if it is still the owner's: another name in its thread may have changed that. */
  #standingItems(document: Document, id: string, read = new Map<string, Speakers | null>()): StandingItem[] {
    const { role, name } = document.message ?? {};
    const speakers = name === undefined ? null : this.#speakersOf(id, read);
    return isOfOwner({ role, name }, speakers ?? UNNAMED) ? standingItems(document, id) : [];
  }

  /** The speakers of a thread. `read`: those of a call, which may show many messages of one. */
  #speakersOf(id: string, read: Map<string, Speakers | null>): Speakers | null {
    const known = read.get(id);
    const speakers = known === undefined ? (this.#deps.stores.threads.get(id)?.speakers ?? null) : known;
    read.set(id, speakers);
    return speakers;
  }

  #entries(layer: Extract<ContextLayer, { type: "entries" }>, now: number): ContextItem[] {
    const { entries } = this.#deps;
    const { prefix, keys, n = 20 } = layer;
    const found =
      prefix === undefined
        ? [...new Set(keys)].flatMap((key) => entries.get(key, now) ?? [])
        : entries.list({ prefix, limit: n, values: true }, now).entries;
    return found
      .slice(0, n)
      .flatMap(({ key, version, value }): ContextItem[] =>
        value === undefined
          ? []
          : [{ id: key, place: { key, version }, shown: { text: `[${key}]: ${valueText(value)}` } }],
      );
  }

  #summaries(thread: StoredThread): ContextItem[] {
    const { compactions } = this.#deps.stores;
    return compactions
      .shown(thread)
      .toReversed()
      .map(({ id }) => this.#summary(thread, id));
  }

  #summary(thread: Pick<StoredThread, "n">, id: string): ContextItem {
    const { text } = searchableText(parsed(this.#deps.stores.compactions.summary(thread, id)));
    return { id, place: { compaction: id, thread: thread.n }, shown: { text } };
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

/** Pinned ones first, then by importance, then the newest. */
const bestFirst = (rows: readonly MemoryRow[]): MemoryRow[] =>
  rows.toSorted(
    (a, b) =>
      Number(b.tags.includes(PINNED)) - Number(a.tags.includes(PINNED)) ||
      (b.importance ?? USUAL_IMPORTANCE) - (a.importance ?? USUAL_IMPORTANCE) ||
      b.updatedAt - a.updatedAt ||
      b.version - a.version,
  );

const newestFirst = (rows: readonly MemoryRow[]): MemoryRow[] =>
  rows.toSorted((a, b) => b.createdAt - a.createdAt || b.version - a.version);

type StandingItem = ContextItem & { said: string; place: Place & { n: number } };

/** The passages of a message that hold from then on, in its order. */
function standingItems({ n, text, createdAt, standing, message }: Document, thread: string): StandingItem[] {
  const whole = withoutSpeaker(text, message).trim();
  return (standing ?? []).map((passage) => {
    const said = text.slice(...passage);
    return {
      id: `${thread}:${seqOf(n)}`,
      place: { n, passage, standing: said === whole ? "whole" : "part", hash: hash32(said) },
      shown: { text: `${oneLine(said)} (${day(createdAt)})` },
      saidAt: createdAt,
      said,
    };
  });
}

/** The end of what a line says, if a later statement replaces it or its validity ends. */
const untilOf = (place: Place): string =>
  "until" in place && place.until !== undefined ? ` | until ${day(place.until)}` : "";

/** The memory at a place: as it is, with the version before it, or as no longer true. */
function memoryAt(
  layer: LayerName,
  place: NumberedPlace,
  { rows, expired, now }: FoundRows,
): ContextItem | null {
  const row = rows.get(place.n);
  if (row === undefined || row.status !== "active" || expired.has(row.id)) return null;
  if ((row.expiresAt ?? Infinity) < now) return null;
  const item = itemOf(layer, row, place);
  if (place.was === undefined) return item;
  if (place.was === place.n) return { ...item, shown: { text: `no longer true: ${item.shown.text}` } };
  const before = rows.get(place.was);
  // The former version may be forgotten by itself.
  return before === undefined
    ? item
    : { ...item, shown: { text: `${item.shown.text} (before: ${oneLine(before.text)})` } };
}

/** A line for a memory's version. Only what never changes of a version is in it. */
function itemOf(layer: LayerName, row: MemoryRow, place: Place = { n: row.version }): ContextItem {
  const { id, source } = row;
  const from = source?.message === undefined ? {} : { message: String(source.message) };
  const line = lines[layer] ?? (({ text }) => ({ text: oneLine(text) }));
  return { id, place, shown: line(row, place), ...from };
}

const partOf = (place: Place) => ("passage" in place ? place.passage : undefined);
const replaces = (place: Place): boolean => "replaces" in place && place.replaces === true;

const factLine = ({ text, validFrom }: MemoryRow, place: Place): Shown => ({
  text: `${oneLine(text)} (${replaces(place) ? "since " : ""}${day(validFrom)})`,
});

/** The line of a memory in each layer that shows more than its text. */
const lines: { [Layer in LayerName]?: (row: MemoryRow, place: Place) => Shown } = {
  profile: ({ subject, predicate, object, validFrom }, place) => ({
    subject: subject ?? "",
    text: `${predicate} ${object ?? ""}`.trim() + (replaces(place) ? ` (since ${day(validFrom)})` : ""),
  }),
  procedures: ({ id, title, text }, place) => ({
    text:
      partOf(place) === undefined ? `${quoted(title ?? "")} (id: ${id})` : `${quoted(title ?? "")}: ${text}`,
  }),
  episodes: ({ createdAt, text }) => ({ text: `[${day(createdAt)}] ${oneLine(text)}` }),
  recalled: ({ kind, title, text, validFrom }, place) => {
    const [start, end] = partOf(place) ?? [0, text.length];
    const named = title === null ? "" : `${quoted(title)}: `;
    return {
      text: `[${kind} | ${day(validFrom)}${untilOf(place)}] ${named}${oneLine(text.slice(start, end))}`,
    };
  },
  facts: factLine,
  changes: factLine,
};
