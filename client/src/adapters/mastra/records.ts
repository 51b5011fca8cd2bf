import { hasCode } from "../../error.ts";
import type { Cairn } from "../../index.ts";
import { LargeEntries } from "../entries/large-entries.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";

/** How often a change is tried anew against others of the same record. */
const ATTEMPTS = 20;
/** Characters of an id that stand in a key; a longer one becomes a hash: a key holds 1,024 bytes. */
const ID = 240;

/** JSON objects by kind and id, in a user's key-value entries; changed in one step, also by several at once. */
export class Records<T extends object> {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #under: string;
  readonly #entries: LargeEntries;

  /** `kind` is of ASCII. */
  constructor({ memory, user, prefix }: { memory: Cairn; user: string; prefix: string }, kind: string) {
    this.#memory = memory;
    this.#user = user;
    this.#under = `${prefix}${kind}/`;
    this.#entries = new LargeEntries(memory, user);
  }

  async get(id: string): Promise<T | null> {
    const [record] = await this.#entries.read<T>([await this.#keyOf(id)]);
    return record ?? null;
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

  /** Puts in the place of what is there what `change` makes of it; `change` may be asked again, if another was first. */
  async change<R extends T | null>(id: string, change: (there: T | null) => R): Promise<R> {
    const key = await this.#keyOf(id);
    for (let attempt = 1; ; attempt++) {
      const entry = await this.#memory.kv.getVersioned(this.#user, key);
      const there = entry && (await this.#entries.whole<T>(key, entry.value));
      const record = change(there);
      // What is there is meant to stay.
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
    await this.#memory.kv.delete(this.#user, await this.#keyOf(id));
  }

  async #keyOf(id: string): Promise<string> {
    return this.#under + (await keyPartOf(id));
  }
}

/** An id as a part of a key. */
export const keyPartOf = async (id: string): Promise<string> =>
  id.length > ID || id.startsWith("#") ? `#${await sha256Hex(id)}` : id;
