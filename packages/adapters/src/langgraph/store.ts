import {
  BaseStore,
  type GetOperation,
  type Item,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchItem,
  type SearchOperation,
  validateNamespace,
} from "@langchain/langgraph-checkpoint";
import { hasCode } from "../../../client/src/error.ts";
import type { BatchOperation, Cairn } from "../../../client/src/index.ts";
import { ItemIndex } from "./item-index.ts";
import { fitsFilter } from "./item-filter.ts";
import {
  byCreation,
  entryKeyOf,
  itemOf,
  type ItemRecord,
  itemsUnder,
  namespaceIn,
  textsOf,
} from "./item-record.ts";
import { LargeEntries, type LargeEntry } from "../entries/large-entries.ts";
import { limited, limitMethods, type TimeLimit } from "../limits/time-limit.ts";
import { requireUser } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { commonPrefix, listed } from "./namespaces.ts";

export type CairnStoreOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns the items; erasing the user deletes them. */
  user: string;
  /** Prepended to the keys of all entries, and the scope of searchable texts; `langgraph/store/` unless set. */
  prefix?: string;
  /**
   * Makes items searchable by `query`. `fields` are the paths of the searchable texts, unless a `put` names others;
   * `["$"]`, the whole value, unless set.
   */
  index?: { fields?: string[] };
  /** `defaultTtl`: the items' lifetime in minutes, for ever unless set. `refreshOnRead`: true unless set. */
  ttl?: { defaultTtl?: number; refreshOnRead?: boolean };
};

const OPTIONS: OptionNames<CairnStoreOptions> = {
  memory: true,
  user: true,
  prefix: true,
  timeoutMs: true,
  index: { fields: true } satisfies OptionNames<CairnStoreOptions["index"]>,
  ttl: { defaultTtl: true, refreshOnRead: true } satisfies OptionNames<CairnStoreOptions["ttl"]>,
};

/** The least age of a stale text before its repair. The item of a newer text may be about to be written. */
const MEND_AFTER_MS = 300_000;
/** Tries of a write against concurrent writers of the same items. */
const ATTEMPTS = 20;
/** The shortest lifetime of searchable texts. */
const LEAST_MS = 60_000;

/**
 * Keeps LangGraph's long-term memory in a user's key-value entries, and finds it by meaning.
 *
 * @example
 * const store = new CairnStore({ memory, user: "alice", index: { fields: ["text"] } });
 * await store.put(["preferences"], "food", { text: "Alice loves ramen" });
 * await store.search(["preferences"], { query: "what does she eat?" });
 */
export class CairnStore extends BaseStore {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #prefix: string;
  readonly #fields: string[] | undefined;
  readonly #ttlMs: number | undefined;
  readonly #refresh: boolean;
  readonly #entries: LargeEntries;
  readonly #index: ItemIndex;

  constructor(options: CairnStoreOptions) {
    requireUser("CairnStore", options, OPTIONS);
    const { user, prefix = "langgraph/store/", index, ttl } = options;
    const memory = limited(options.memory, options);
    super();
    this.#memory = memory;
    this.#user = user;
    this.#prefix = prefix;
    this.#fields = index && (index.fields ?? ["$"]);
    this.#ttlMs = ttl?.defaultTtl === undefined ? undefined : Math.round(ttl.defaultTtl * 60_000);
    this.#refresh = this.#ttlMs !== undefined && ttl?.refreshOnRead !== false;
    this.#entries = new LargeEntries(memory, user);
    this.#index = new ItemIndex(memory, user, prefix);
    const copy = (own: Cairn) => new CairnStore({ ...options, memory: own });
    limitMethods(this, ["batch"], options, copy, CairnStore.prototype);
  }

  /**
   * Reads see the state before the batch; of two writes to one item, the last one counts. Writes of a batch are atomic
   * up to 15 MiB and 1,000 entries.
   */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    for (const operation of operations)
      if ("namespace" in operation) validateNamespace(operation.namespace, { allowReservedRoot: true });
    const gets = operations.filter(isGet);
    const items = await this.#get(gets);
    const results = await Promise.all(
      operations.map(async (operation) => {
        if ("namespacePrefix" in operation) return this.#search(operation);
        if (isGet(operation)) return items[gets.indexOf(operation)] ?? null;
        return "value" in operation ? undefined : this.#namespaces(operation);
      }),
    );
    await this.#put(operations.filter((operation) => "value" in operation));
    // One result for each operation, of its type.
    return results as OperationResults<Op>;
  }

  async #get(operations: readonly GetOperation[]): Promise<(Item | null)[]> {
    if (operations.length === 0) return [];
    const keys = await Promise.all(operations.map((operation) => this.#keyOf(operation)));
    const records = await this.#entries.read<ItemRecord>(keys);
    this.#keepFindable(records.map((record, i) => ({ entryKey: keys[i] ?? "", record })));
    return records.map((record) => record && itemOf(record));
  }

  async #namespaces(operation: ListNamespacesOperation): Promise<string[][]> {
    const namespaces: string[][] = [];
    const prefix = itemsUnder(this.#prefix, commonPrefix(operation.matchConditions));
    for await (const { key } of this.#memory.kv.all(this.#user, { prefix, limit: 1000 }))
      namespaces.push(namespaceIn(this.#prefix, key));
    return listed(namespaces, operation);
  }

  async #search(operation: SearchOperation): Promise<SearchItem[]> {
    const { namespacePrefix, filter, query } = operation;
    if (namespacePrefix.length > 0) validateNamespace(namespacePrefix, { allowReservedRoot: true });
    const [offset, limit] = [operation.offset ?? 0, operation.limit ?? 10];
    const isWanted = ({ value }: ItemRecord) => filter === undefined || fitsFilter(value, filter);
    const isAsked = query !== undefined && query.trim() !== "" && this.#fields !== undefined;
    const scored = isAsked ? await this.#scored(namespacePrefix, query) : new Map<string, Scored>();
    const best = [...scored].filter(([, { record }]) => isWanted(record));
    const found = best.map(([entryKey, one]): [string, Candidate] => [entryKey, one]);
    if (found.length < offset + limit) {
      const others = (await this.#all(namespacePrefix)).filter(
        ([key, { record }]) => !scored.has(key) && isWanted(record),
      );
      // A recall finds only one of several equal texts.
      const scores = new Map([...scored.values()].toReversed().map(({ text, score }) => [text, score]));
      const twins = others.map(([key, { record }]): [string, Candidate] => [
        key,
        { record, score: bestOf(textsOf(record).map((text) => scores.get(text))) },
      ]);
      found.push(...twins);
      found.sort(([, a], [, b]) => (b.score ?? -1) - (a.score ?? -1));
    }
    const page = found.slice(offset, offset + limit);
    return this.#refreshed(page);
  }

  /** Hits of a query under a namespace, best first. Leaves out texts that the item no longer has. */
  async #scored(namespace: readonly string[], query: string): Promise<Map<string, Scored>> {
    const hits = await this.#index.find(namespace, query);
    const keys = [...new Set(hits.map(({ entryKey }) => entryKey))];
    const records = new Map(
      (await this.#entries.read<ItemRecord>(keys)).map((record, i) => [keys[i] ?? "", record]),
    );
    const scored = new Map<string, Scored>();
    for (const { entryKey, score, text, rememberedAt } of hits) {
      const record = records.get(entryKey);
      if (record && textsOf(record).includes(text)) {
        if (!scored.has(entryKey)) scored.set(entryKey, { record, score, text });
      } else if (rememberedAt < Date.now() - MEND_AFTER_MS) this.#memory.later(() => this.#mend(entryKey));
    }
    return scored;
  }

  /** All items under a namespace, in order of creation. */
  async #all(namespace: readonly string[]): Promise<[string, Candidate][]> {
    const all: [string, Candidate][] = [];
    const prefix = itemsUnder(this.#prefix, namespace);
    for await (const { key, value } of this.#memory.kv.all(this.#user, { prefix, values: true })) {
      const record = await this.#entries.whole<ItemRecord>(key, value);
      if (record !== null) all.push([key, { record }]);
    }
    return all.toSorted(([, a], [, b]) => byCreation(a.record, b.record));
  }

  /** Returns the items and extends their lifetimes; listing alone does not count as a read. */
  async #refreshed(page: readonly [string, Candidate][]): Promise<SearchItem[]> {
    if (this.#refresh && page.length > 0) await this.#entries.read(page.map(([key]) => key));
    this.#keepFindable(page.map(([entryKey, { record }]) => ({ entryKey, record })));
    return page.map(([, { record, score }]) => ({
      ...itemOf(record),
      ...(score !== undefined && { score }),
    }));
  }

  async #put(operations: readonly PutOperation[]): Promise<void> {
    if (operations.length === 0) return;
    const last = new Map<string, PutOperation>();
    for (const operation of operations) last.set(await this.#keyOf(operation), operation);
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#tryPut(last);
      } catch (error) {
        if (!hasCode(error, "precondition_failed") || attempt === ATTEMPTS) throw error;
      }
  }

  /**
   * Stores an item's texts before the item, and deletes them after it. A crash in between leaves stale texts; a search
   * that finds them repairs them.
   */
  async #tryPut(last: ReadonlyMap<string, PutOperation>): Promise<void> {
    const keys = [...last.keys()];
    const heads = await this.#entries.heads(keys);
    const before = await Promise.all(
      heads.map((head, i) => this.#entries.whole<ItemRecord>(keys[i] ?? "", head?.value)),
    );
    const changes = [...last].map(([entryKey, operation], i): Change => ({
      entryKey,
      old: before[i] ?? null,
      ifVersion: heads[i]?.version ?? null,
      record: this.#recordOf(operation, before[i] ?? null, i),
    }));
    await this.#index.remember(
      changes.flatMap(({ entryKey, record }) =>
        record === null ? [] : [{ entryKey, record, expiresAt: this.#findableUntil() }],
      ),
    );
    await this.#entries.write(
      changes.flatMap(({ entryKey, record, ifVersion }) =>
        record === null ? [] : [{ ...this.#entryOf(entryKey, record), ifVersion }],
      ),
      changes.flatMap(({ entryKey, record, ifVersion }): BatchOperation[] =>
        record === null ? [{ op: "delete", key: entryKey, ifVersion }] : [],
      ),
    );
    await this.#forget(changes);
  }

  async #forget(changes: readonly Change[]): Promise<void> {
    await this.#index.forgetBeyond(
      changes.flatMap(({ entryKey, old, record }) => {
        if (old === null) return [];
        const [had, has] = [textsOf(old).length, record === null ? 0 : textsOf(record).length];
        return had > has ? [{ entryKey, had, has }] : [];
      }),
    );
    // An earlier try may have deleted the item, then failed before this.
    const again = changes.filter(({ old, record }) => old === null && record === null);
    if (this.#fields !== undefined) await this.#index.forgetItems(again.map(({ entryKey }) => entryKey));
  }

  #recordOf(
    { namespace, key, value, index }: PutOperation,
    old: ItemRecord | null,
    place: number,
  ): ItemRecord | null {
    if (value === null) return null;
    const now = Date.now();
    const fields = this.#fields === undefined || index === false ? [] : (index ?? this.#fields);
    const findableUntil = this.#refresh ? this.#findableUntil() : undefined;
    return {
      namespace,
      key,
      value,
      createdAt: old?.createdAt ?? now,
      updatedAt: now,
      place: old?.place ?? place,
      fields,
      ...(findableUntil !== undefined && fields.length > 0 && { findableUntil }),
    };
  }

  #entryOf(key: string, value: ItemRecord): LargeEntry {
    if (this.#ttlMs === undefined) return { key, value };
    return { key, value, ttlMs: this.#ttlMs, refreshOnRead: this.#refresh };
  }

  /** The expiry of an item's texts: at least the item's, which reads may extend. */
  #findableUntil(): number | undefined {
    if (this.#ttlMs === undefined) return undefined;
    // The server refuses an expiry in the past; a text that outlives its item is harmless.
    return Date.now() + Math.max(this.#ttlMs, LEAST_MS) * (this.#refresh ? 2 : 1);
  }

  /** Extends the texts' lifetimes in the background where a read extended the item's. */
  #keepFindable(items: readonly { entryKey: string; record: ItemRecord | null }[]): void {
    if (this.#ttlMs === undefined) return;
    const soon = Date.now() + this.#ttlMs;
    for (const { entryKey, record } of items)
      if (record?.findableUntil !== undefined && record.findableUntil < soon)
        this.#memory.later(() => this.#extend(entryKey));
  }

  /** Makes the texts match the item's present content; deletes them if it is gone. */
  async #mend(entryKey: string): Promise<void> {
    const [record] = await this.#entries.read<ItemRecord>([entryKey]);
    const index = this.#index;
    if (!record) return index.forgetItems([entryKey]);
    await index.remember([{ entryKey, record, expiresAt: this.#findableUntil() }]);
    return index.forgetOther(entryKey, textsOf(record));
  }

  async #extend(entryKey: string): Promise<void> {
    const there = await this.#memory.kv.getVersioned(this.#user, entryKey);
    const record = there && (await this.#entries.whole<ItemRecord>(entryKey, there.value));
    const findableUntil = this.#findableUntil();
    if (!there || !record || findableUntil === undefined) return;
    await this.#index.remember([{ entryKey, record, expiresAt: findableUntil }]);
    try {
      const entry = this.#entryOf(entryKey, { ...record, findableUntil });
      await this.#entries.write([{ ...entry, ifVersion: there.version }]);
    } catch (error) {
      // Another writer rewrote the item meanwhile, and stored its texts.
      if (!hasCode(error, "precondition_failed")) throw error;
    }
  }

  #keyOf({ namespace, key }: { namespace: string[]; key: string }): Promise<string> {
    return entryKeyOf(this.#prefix, namespace, key);
  }
}

type Candidate = { record: ItemRecord; score?: number | undefined };
type Scored = { record: ItemRecord; score: number; text: string };
type Change = {
  entryKey: string;
  old: ItemRecord | null;
  /** The version of the old entry. */
  ifVersion: string | null;
  record: ItemRecord | null;
};

const isGet = (operation: Operation): operation is GetOperation =>
  "key" in operation && "namespace" in operation && !("value" in operation);

const bestOf = (scores: readonly (number | undefined)[]): number | undefined =>
  scores.reduce((best, score) => (score === undefined || (best ?? -1) >= score ? best : score), undefined);
