import type { Cairn, ListedEntry } from "../../../client/src/index.ts";
import { itemsOf } from "../../../client/src/pages.ts";
import type { CheckpointKeys } from "./checkpoint-keys.ts";
import type {
  ChannelRecord,
  CheckpointName,
  CheckpointRecord,
  WritesRecord,
  WrittenCheckpoint,
} from "./checkpoint-record.ts";
import type { LargeEntries } from "../entries/large-entries.ts";

/** Entries of the newest checkpoint: a second one shows that no task has written on top of it. */
const NEWEST = 2;

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

  async checkpoint(namespace: string, id: string): Promise<WrittenCheckpoint | undefined> {
    return this.#first(await this.#keys.checkpoint(namespace, id));
  }

  async newest(namespace: string): Promise<WrittenCheckpoint | undefined> {
    return this.#first(await this.#keys.checkpoints(namespace), NEWEST);
  }

  /** The checkpoints of one namespace, or of all; latest first. */
  async *checkpoints(namespace?: string): AsyncGenerator<WrittenCheckpoint, void> {
    yield* this.#under(await this.#keys.checkpoints(namespace));
  }

  /** The writes on top of one checkpoint. */
  async writes({ namespace, id }: Omit<CheckpointName, "threadId">): Promise<WritesRecord[]> {
    const entries: ListedEntry[] = [];
    for await (const entry of this.#listed(await this.#keys.writes(namespace, id))) entries.push(entry);
    return this.#wholeWrites(entries);
  }

  /** True if the checkpoint is there; it may have been deleted since it was read. */
  async has(namespace: string, id: string): Promise<boolean> {
    const [head] = await this.#entries.heads([await this.#keys.checkpoint(namespace, id)]);
    return head !== null;
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

  async #first(prefix: string, entries?: number): Promise<WrittenCheckpoint | undefined> {
    for await (const one of this.#under(prefix, entries)) return one;
    return undefined;
  }

  /** Leaves out writes on top of a checkpoint that is not stored yet, or was just deleted. */
  async *#under(prefix: string, first?: number): AsyncGenerator<WrittenCheckpoint, void> {
    let last: { entry: ListedEntry; writes: ListedEntry[] } | undefined;
    for await (const entry of this.#listed(prefix, first)) {
      const checkpoint = this.#keys.checkpointIn(entry.key);
      if (entry.key !== checkpoint) {
        if (last?.entry.key === checkpoint) last.writes.push(entry);
        continue;
      }
      const written = await this.#whole(last);
      if (written !== undefined) yield written;
      last = { entry, writes: [] };
    }
    const written = await this.#whole(last);
    if (written !== undefined) yield written;
  }

  async #whole(
    found: { entry: ListedEntry; writes: readonly ListedEntry[] } | undefined,
  ): Promise<WrittenCheckpoint | undefined> {
    if (found === undefined) return undefined;
    const { entry, writes } = found;
    const record = await this.#entries.whole<CheckpointRecord>(entry.key, entry.value);
    return record === null ? undefined : { record, writes: await this.#wholeWrites(writes) };
  }

  /** Reads pages lazily; the first one may be smaller. */
  #listed(prefix: string, first?: number): AsyncGenerator<ListedEntry, void> {
    return itemsOf((cursor) =>
      this.#memory.kv.list(this.#user, {
        prefix,
        values: true,
        ...(cursor === undefined ? { limit: first } : { cursor }),
      }),
    );
  }

  async #wholeWrites(entries: readonly ListedEntry[]): Promise<WritesRecord[]> {
    const records = await Promise.all(
      entries.map(({ key, value }) => this.#entries.whole<WritesRecord>(key, value)),
    );
    return records.filter((record) => record !== null);
  }
}

/** A unique name of a channel version. */
export const nameOf = (channel: string, version: string | number): string =>
  JSON.stringify([channel, String(version)]);
