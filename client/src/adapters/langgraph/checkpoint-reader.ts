import type { Cairn, ListedEntry } from "../../index.ts";
import type { CheckpointKeys } from "./checkpoint-keys.ts";
import type { ChannelRecord, CheckpointName, CheckpointRecord, WritesRecord } from "./checkpoint-record.ts";
import type { LargeEntries } from "../entries/large-entries.ts";

/** Entries of writes in a page. */
const WRITES_PER_PAGE = 100;

/** Reads the entries of one LangGraph thread. */
export class CheckpointReader {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #entries: LargeEntries;
  readonly #keys: CheckpointKeys;

  constructor(
    { memory, user }: { memory: Cairn; user: string },
    entries: LargeEntries,
    keys: CheckpointKeys,
  ) {
    this.#memory = memory;
    this.#user = user;
    this.#entries = entries;
    this.#keys = keys;
  }

  async checkpoint(namespace: string, id: string): Promise<CheckpointRecord | undefined> {
    const [record] = await this.#entries.read<CheckpointRecord>([await this.#keys.checkpoint(namespace, id)]);
    return record ?? undefined;
  }

  async newest(namespace: string): Promise<CheckpointRecord | undefined> {
    for await (const record of this.checkpoints(namespace, 1)) return record;
    return undefined;
  }

  /** The checkpoints of one namespace, or of all; latest first. Reads `pageSize` at once. */
  async *checkpoints(namespace?: string, pageSize?: number): AsyncGenerator<CheckpointRecord, void> {
    const prefix = await this.#keys.checkpoints(namespace);
    for await (const { key, value } of this.#memory.kv.all(this.#user, {
      prefix,
      values: true,
      limit: pageSize,
    })) {
      const record = await this.#entries.whole<CheckpointRecord>(key, value);
      if (record !== null) yield record;
    }
  }

  /** The writes on top of one checkpoint. */
  async writes({ namespace, id }: Omit<CheckpointName, "threadId">): Promise<WritesRecord[]> {
    const prefix = await this.#keys.writes(namespace, id);
    const entries: ListedEntry[] = [];
    for await (const entry of this.#memory.kv.all(this.#user, { prefix, values: true })) entries.push(entry);
    return this.#wholeWrites(entries);
  }

  /** The writes of many checkpoints, requested in the order of `checkpoints`; one sequential read for all. */
  async writesInOrder(namespace?: string): Promise<WritesInOrder> {
    const prefix = await this.#keys.allWrites(namespace);
    const query = { prefix, values: true, limit: WRITES_PER_PAGE };
    const entries = this.#memory.kv.all(this.#user, query);
    const isBefore = (key: string, wanted: string) => this.#keys.checkpointIn(key) < wanted;
    let next = await entries.next();
    return async ({ namespace: of, id }) => {
      const wanted = this.#keys.checkpointIn(await this.#keys.checkpoint(of, id));
      const found: ListedEntry[] = [];
      for (; next.done !== true; next = await entries.next()) {
        if (isBefore(next.value.key, wanted)) continue;
        if (this.#keys.checkpointIn(next.value.key) !== wanted) break;
        found.push(next.value);
      }
      return this.#wholeWrites(found);
    };
  }

  /** The values of channel versions, by `nameOf`. Values that were never stored are missing. */
  async channels(
    namespace: string,
    wanted: readonly [channel: string, version: string | number][],
  ): Promise<Map<string, ChannelRecord>> {
    const distinct = new Map(
      wanted.map(([channel, version]) => [nameOf(channel, version), { channel, version }]),
    );
    const keys = await Promise.all(
      [...distinct.values()].map(({ channel, version }) => this.#keys.channel(namespace, channel, version)),
    );
    const records = await this.#entries.read<ChannelRecord>(keys);
    const found = new Map<string, ChannelRecord>();
    for (const record of records)
      if (record !== null) found.set(nameOf(record.channel, record.version), record);
    return found;
  }

  async #wholeWrites(entries: readonly ListedEntry[]): Promise<WritesRecord[]> {
    const records = await Promise.all(
      entries.map(({ key, value }) => this.#entries.whole<WritesRecord>(key, value)),
    );
    return records.filter((record) => record !== null);
  }
}

export type WritesInOrder = (name: Omit<CheckpointName, "threadId">) => Promise<WritesRecord[]>;

/** A unique name of a channel version. */
export const nameOf = (channel: string, version: string | number): string =>
  JSON.stringify([channel, String(version)]);
