import {
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  compareWritesSortKeys,
  type SerializerProtocol,
  writesSortKey,
} from "@langchain/langgraph-checkpoint";
import { deserialized, type Serialized } from "./serialized.ts";

export type CheckpointName = { threadId: string; namespace: string; id: string };

/** A checkpoint as its entry holds it; each changed value of a channel has an entry of its own besides. */
export type CheckpointRecord = CheckpointName & {
  parentId?: string;
  /** Without `channel_values`. */
  checkpoint: Serialized;
  metadata: Serialized;
  /** The changed values, if they are small: the newest checkpoint is then read in one call. */
  values: [channel: string, value: Serialized][];
  /** The channels without a value. */
  empty: string[];
};

/** A checkpoint, and what tasks wrote on top of it. */
export type WrittenCheckpoint = { record: CheckpointRecord; writes: WritesRecord[] };

/** One version of a channel's value. */
export type ChannelRecord = { channel: string; version: string | number; value: Serialized };

/** The writes of one `putWrites` call for a task: place, channel and value. */
export type WritesRecord = { taskId: string; taskPath: string; writes: [number, string, Serialized][] };

export type BareCheckpoint = Omit<Checkpoint, "channel_values">;

export async function checkpointOf(
  serde: SerializerProtocol,
  record: CheckpointRecord,
): Promise<BareCheckpoint> {
  // `put` wrote it.
  return (await deserialized(serde, record.checkpoint)) as BareCheckpoint;
}

export async function metadataOf(
  serde: SerializerProtocol,
  record: CheckpointRecord,
): Promise<CheckpointMetadata> {
  return (await deserialized(serde, record.metadata)) as CheckpointMetadata;
}

/** The writes on top of a checkpoint, in the order in which LangGraph applies them. */
export async function pendingWritesOf(
  serde: SerializerProtocol,
  records: readonly WritesRecord[],
): Promise<CheckpointPendingWrite[]> {
  const sorted = records
    .flatMap(({ taskId, taskPath, writes }) =>
      writes.map(([index, channel, value]) => ({
        key: writesSortKey(taskPath, taskId, index),
        taskId,
        channel,
        value,
      })),
    )
    .toSorted((a, b) => compareWritesSortKeys(a.key, b.key));
  return Promise.all(
    sorted.map(async ({ taskId, channel, value }): Promise<CheckpointPendingWrite> => [
      taskId,
      channel,
      await deserialized(serde, value),
    ]),
  );
}
