import { InMemoryDB, InMemoryMemory, type ObservationalMemoryRecord } from "@mastra/core/storage";
import type { Cairn } from "../../../client/src/cairn.ts";
import { hasCode } from "../../../client/src/error.ts";
import { LargeEntries } from "../entries/large-entries.ts";
import { keyPartOf } from "./records.ts";

/** The owner of a history: a thread, or without one a resource. */
type Owner = { threadId: string | null; resourceId: string };
/** A record with its entry's version; null for a new one. */
type Read = { record: ObservationalMemoryRecord; version: string | null };
/** The ids of an owner's records, newest first. */
type History = { key: string; ids: readonly string[]; version: string | null };
/** The input of a change: records, and the history if it may get another record. */
type Before = { records: readonly Read[]; history?: History };

/** A change, as the SDK's own store does it. */
export type Change<T> = (store: InMemoryMemory) => Promise<T>;

/** Tries of a change against concurrent changes of the same record. */
const ATTEMPTS = 20;

/**
 * Mastra's observational memory in a user's entries: one entry a record, and one with the ids of each history. The SDK's own
 * store in memory makes each change, on the records that are read for it. They are written in one step.
 */
export class ObservationRecords {
  readonly #memory: Pick<Cairn, "kv">;
  readonly #user: string;
  readonly #prefix: string;
  readonly #entries: LargeEntries;

  constructor({ memory, user, prefix }: { memory: Cairn; user: string; prefix: string }) {
    this.#memory = memory;
    this.#user = user;
    this.#prefix = prefix;
    this.#entries = new LargeEntries(memory, user);
  }

  /** Changes one record; the store has none if it does not exist. */
  change<T>(id: string, change: Change<T>): Promise<T> {
    return this.#apply(async () => ({ records: await this.#read([id]) }), change);
  }

  /** Adds a record to a history. The store has the records with these ids, or all. */
  add<T>(owner: Owner, ids: readonly string[] | "all", change: Change<T>): Promise<T> {
    const read = async (): Promise<Before> => {
      const history = await this.#history(owner);
      return { records: await this.#read(ids === "all" ? history.ids : ids), history };
    };
    return this.#apply(read, change);
  }

  /** Reads a history as the SDK's store does; `newest` is the number of records that it needs. */
  async read<T>(owner: Owner, newest: number, answer: Change<T>): Promise<T> {
    const { ids } = await this.#history(owner);
    const { store } = await storeOf(await this.#read(ids.slice(0, newest)));
    return answer(store);
  }

  async clear(owner: Owner): Promise<void> {
    const { key, ids } = await this.#history(owner);
    // The history goes last, so that a repeated call can resume.
    for (const id of ids) await this.#memory.kv.delete(this.#user, await this.#keyOf(id));
    await this.#memory.kv.delete(this.#user, key);
  }

  async #apply<T>(read: () => Promise<Before>, change: Change<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const { records, history } = await read();
      const before = new Map(
        records.map(({ record, version }) => [record.id, { json: JSON.stringify(record), version }]),
      );
      const { store, all } = await storeOf(records);
      const result = await change(store);
      const after = all();
      const changed = after.filter((record) => JSON.stringify(record) !== before.get(record.id)?.json);
      const writes = changed.map(async (record) => ({
        key: await this.#keyOf(record.id),
        value: record,
        ifVersion: before.get(record.id)?.version ?? null,
      }));
      const grown = history && grownBy(history, after);
      try {
        await this.#entries.write([...(await Promise.all(writes)), ...(grown ? [grown] : [])]);
        return result;
      } catch (error) {
        if (!hasCode(error, "precondition_failed") || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async #read(ids: readonly string[]): Promise<Read[]> {
    const keys = await Promise.all(ids.map((id) => this.#keyOf(id)));
    const heads = await this.#entries.heads(keys);
    const found = await Promise.all(
      heads.map(async (head, i): Promise<Read[]> => {
        const stored =
          head && (await this.#entries.whole<ObservationalMemoryRecord>(keys[i] ?? "", head.value));
        return head && stored ? [{ record: revived(stored), version: head.version }] : [];
      }),
    );
    return found.flat();
  }

  async #history({ threadId, resourceId }: Owner): Promise<History> {
    const owner = threadId ? `thread:${threadId}` : `resource:${resourceId}`;
    const key = `${this.#prefix}observation-histories/${await keyPartOf(owner)}`;
    const entry = await this.#memory.kv.getVersioned<{ ids: string[] }>(this.#user, key);
    return { key, ids: entry?.value.ids ?? [], version: entry?.version ?? null };
  }

  async #keyOf(id: string): Promise<string> {
    return `${this.#prefix}observations/${await keyPartOf(id)}`;
  }
}

/** The SDK's store with these records, newest first. */
async function storeOf(records: readonly Read[]) {
  const db = new InMemoryDB();
  const store = new InMemoryMemory({ db });
  for (const { record } of records.toReversed())
    await store.insertObservationalMemoryRecord(structuredClone(record));
  return { store, all: (): ObservationalMemoryRecord[] => [...db.observationalMemory.values()].flat() };
}

/** The history with new records, in the store's order if it had the whole history, else first; undefined without any. */
function grownBy({ key, ids, version }: History, after: readonly ObservationalMemoryRecord[]) {
  const stored = after.map(({ id }) => id);
  const added = stored.filter((id) => !ids.includes(id));
  if (added.length === 0) return undefined;
  const isWhole = ids.every((id) => stored.includes(id));
  return { key, value: { ids: isWhole ? stored : [...added, ...ids] }, ifVersion: version };
}

/** A record whose JSON has texts for dates. */
function revived(stored: ObservationalMemoryRecord): ObservationalMemoryRecord {
  const {
    createdAt,
    updatedAt,
    lastObservedAt,
    lastBufferedAtTime,
    bufferedObservationChunks: chunks,
  } = stored;
  return {
    ...stored,
    createdAt: new Date(createdAt),
    updatedAt: new Date(updatedAt),
    lastBufferedAtTime: lastBufferedAtTime && new Date(lastBufferedAtTime),
    ...(lastObservedAt && { lastObservedAt: new Date(lastObservedAt) }),
    ...(chunks && {
      bufferedObservationChunks: chunks.map((chunk) => ({
        ...chunk,
        createdAt: new Date(chunk.createdAt),
        lastObservedAt: new Date(chunk.lastObservedAt),
      })),
    }),
  };
}
