import { hasCode } from "../../../client/src/error.ts";
import type { BatchOperation, Cairn } from "../../../client/src/index.ts";
import type { Versioned } from "../../../client/src/http.ts";
import { LargeEntries } from "../entries/large-entries.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** Tries of a change against concurrent changes of the same record. */
const ATTEMPTS = 20;
/** The longest id in a key, in characters; longer ones are hashed, as a key has 1,024 bytes. */
const ID = 240;

/** JSON objects by kind and id, in a user's entries. Changes are atomic. */
export class Records<T extends object> {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #under: string;
  readonly #entries: LargeEntries;

  /** `kind` is ASCII. */
  constructor({ memory, user, prefix }: { memory: Cairn; user: string; prefix: string }, kind: string) {
    this.#memory = memory;
    this.#user = user;
    this.#under = `${prefix}${kind}/`;
    this.#entries = new LargeEntries(memory, user);
  }

  /** The record and the version of its entry; null if there is none. */
  async get(id: string): Promise<Versioned<T> | null> {
    const key = await this.keyOf(id);
    const [head] = await this.#entries.heads([key]);
    return this.whole(key, head);
  }

  /** The same of an entry that another call read. */
  async whole(
    key: string,
    head: { value?: unknown; version?: string | undefined } | null | undefined,
  ): Promise<Versioned<T> | null> {
    if (head?.version === undefined) return null;
    const record = await this.#entries.whole<T>(key, head.value);
    return record === null ? null : { value: record, version: head.version };
  }

  /** Writes the record, and what goes with it in the same step, unless another writer was first. */
  async write(
    id: string,
    value: T,
    { ifVersion, also = [] }: { ifVersion: string | null; also?: readonly BatchOperation[] },
  ): Promise<void> {
    await this.#entries.write([{ key: await this.keyOf(id), value, ifVersion }], also);
  }

  async all(): Promise<T[]> {
    const records: T[] = [];
    const query = { prefix: this.#under, values: true };
    for await (const { key, value } of this.#memory.kv.all(this.#user, query)) {
      const record = await this.#entries.whole<T>(key, value);
      if (record !== null) records.push(record);
    }
    return records;
  }

  /** Replaces the record by the result of `change`, which runs again if another change was first. */
  async change<R extends T | null>(id: string, change: (there: T | null) => R): Promise<R> {
    const key = await this.keyOf(id);
    for (let attempt = 1; ; attempt++) {
      const entry = await this.#memory.kv.getVersioned(this.#user, key);
      const there = entry && (await this.#entries.whole<T>(key, entry.value));
      const record = change(there);
      // The caller keeps the record.
      if (record === null || record === there) return record;
      try {
        const ifVersion = entry?.version ?? null;
        await this.#entries.write([{ key, value: record, ifVersion }]);
        return record;
      } catch (error) {
        const isTaken = hasCode(error, "precondition_failed");
        if (!isTaken || attempt === ATTEMPTS) throw error;
      }
    }
  }

  async delete(id: string): Promise<void> {
    await this.#memory.kv.delete(this.#user, await this.keyOf(id));
  }

  async keyOf(id: string): Promise<string> {
    return this.#under + (await keyPartOf(id));
  }
}

/** An id as a part of a key. */
export const keyPartOf = async (id: string): Promise<string> =>
  id.length > ID || id.startsWith("#") ? `#${await sha256Hex(id)}` : id;
