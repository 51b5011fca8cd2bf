import {
  type Checkpoint,
  type CheckpointTuple,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from "@langchain/langgraph-checkpoint";
import { type CheckpointReader, nameOf } from "./checkpoint-reader.ts";
import {
  type BareCheckpoint,
  type ChannelRecord,
  checkpointOf,
  type CheckpointName,
  metadataOf,
  pendingWritesOf,
  type WrittenCheckpoint,
} from "./checkpoint-record.ts";
import { configOf } from "./config.ts";
import { deserialized } from "./serialized.ts";

type Bare = WrittenCheckpoint & { checkpoint: BareCheckpoint };
type Values = ReadonlyMap<string, ChannelRecord>;

/** Completes checkpoints with their channels' values and pending writes. */
export class CheckpointTuples {
  readonly #reader: CheckpointReader;
  readonly #serde: SerializerProtocol;
  readonly #nextVersion: (current: undefined) => number;

  constructor(
    reader: CheckpointReader,
    serde: SerializerProtocol,
    nextVersion: (current: undefined) => number,
  ) {
    this.#reader = reader;
    this.#serde = serde;
    this.#nextVersion = nextVersion;
  }

  /** Returns tuples in the same order. Leaves out checkpoints deleted since. */
  async of(written: readonly WrittenCheckpoint[]): Promise<CheckpointTuple[]> {
    const bare = await Promise.all(
      written.map(async (one) => ({ ...one, checkpoint: await checkpointOf(this.#serde, one.record) })),
    );
    const values = await this.#valuesOf(bare);
    const tuples: CheckpointTuple[] = [];
    for (const one of bare) {
      const tuple = await this.#tuple(one, values.get(one.record.namespace) ?? new Map());
      if (tuple !== undefined) tuples.push(tuple);
    }
    return tuples;
  }

  /** The values by namespace that the checkpoints do not hold themselves. Reads a value once that several share. */
  async #valuesOf(all: readonly Bare[]): Promise<Map<string, Values>> {
    const values = new Map<string, Values>();
    for (const namespace of new Set(all.map(({ record }) => record.namespace))) {
      const wanted = all
        .filter(({ record }) => record.namespace === namespace)
        .flatMap(({ record, checkpoint }) => {
          const held = new Set([...record.values.map(([channel]) => channel), ...record.empty]);
          return Object.entries(checkpoint.channel_versions).filter(([channel]) => !held.has(channel));
        });
      values.set(namespace, await this.#reader.channels(namespace, wanted));
    }
    return values;
  }

  async #tuple({ record, writes, checkpoint }: Bare, values: Values): Promise<CheckpointTuple | undefined> {
    const { namespace, parentId } = record;
    const whole: Checkpoint = { ...checkpoint, channel_values: {} };
    const held = new Map(record.values);
    const empty = new Set(record.empty);
    let incomplete = false;
    for (const [channel, version] of Object.entries(checkpoint.channel_versions)) {
      if (empty.has(channel)) continue;
      const value = held.get(channel) ?? values.get(nameOf(channel, version))?.value;
      if (value === undefined) incomplete = true;
      else whole.channel_values[channel] = await deserialized(this.#serde, value);
    }
    // A value is missing if `put` did not list it as new, or if the thread was just deleted.
    if (incomplete && !(await this.#reader.has(namespace, record.id))) return undefined;
    if (whole.v < 4 && parentId !== undefined) await this.#addSends(whole, { namespace, id: parentId });
    return {
      config: configOf(record),
      checkpoint: whole,
      metadata: await metadataOf(this.#serde, record),
      pendingWrites: await pendingWritesOf(this.#serde, writes),
      ...(parentId !== undefined && { parentConfig: configOf({ ...record, id: parentId }) }),
    };
  }

  /** Before version 4 of the format, sends were stored as writes on top of the parent. */
  async #addSends(checkpoint: Checkpoint, parent: Omit<CheckpointName, "threadId">): Promise<void> {
    const writes = await pendingWritesOf(this.#serde, await this.#reader.writes(parent));
    checkpoint.channel_values[TASKS] = writes
      .filter(([, channel]) => channel === TASKS)
      .map(([, , value]) => value);
    const versions = Object.values(checkpoint.channel_versions);
    checkpoint.channel_versions[TASKS] =
      versions.length > 0 ? maxChannelVersion(...versions) : this.#nextVersion(undefined);
  }
}
