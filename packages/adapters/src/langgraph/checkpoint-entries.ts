import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type PendingWrite,
  type SerializerProtocol,
  WRITES_IDX_MAP,
} from "@langchain/langgraph-checkpoint";
import type { LargeEntry } from "../entries/large-entries.ts";
import { CheckpointKeys } from "./checkpoint-keys.ts";
import type { ChannelRecord, CheckpointName, CheckpointRecord, WritesRecord } from "./checkpoint-record.ts";
import { serialized } from "./serialized.ts";

/** Bytes of JSON of the values that a checkpoint holds itself: with them its entry is whole (`LargeEntries`). */
const HELD_BYTES = 48 * 1024;

type Form = { serde: SerializerProtocol; prefix: string };

/** The entries of a checkpoint. It is the last one: until it is written, nothing refers to the values. */
export async function checkpointEntries(
  { serde, prefix }: Form,
  name: CheckpointName & { parentId?: string },
  {
    checkpoint: { channel_values: values, ...bare },
    metadata,
    newVersions,
  }: { checkpoint: Checkpoint; metadata: CheckpointMetadata; newVersions: ChannelVersions },
): Promise<LargeEntry[]> {
  const keys = await CheckpointKeys.of(prefix, name.threadId);
  const channels = await Promise.all(
    Object.entries(newVersions)
      .filter(([channel]) => Object.hasOwn(values, channel))
      .map(async ([channel, version]): Promise<LargeEntry & { value: ChannelRecord }> => ({
        key: await keys.channel(name.namespace, channel, version),
        value: { channel, version, value: await serialized(serde, values[channel]) },
      })),
  );
  const record: CheckpointRecord = {
    ...name,
    checkpoint: await serialized(serde, bare),
    metadata: await serialized(serde, metadata),
    values: heldOf(channels.map(({ value }) => value)),
    empty: Object.keys(bare.channel_versions).filter((channel) => !Object.hasOwn(values, channel)),
  };
  return [...channels, { key: await keys.checkpoint(name.namespace, name.id), value: record }];
}

/** The entries of a task's writes. The ordinary writes share the last one, so one step writes them all; it is made once. */
export async function taskEntries(
  { serde, prefix }: Form,
  { threadId, ...checkpoint }: CheckpointName,
  { writes, taskId, taskPath }: { writes: readonly PendingWrite[]; taskId: string; taskPath: string },
): Promise<LargeEntry[]> {
  const keys = await CheckpointKeys.of(prefix, threadId);
  const bySlot = new Map<number, WritesRecord>();
  for (const [place, [channel, value]] of writes.entries()) {
    const index = Object.hasOwn(WRITES_IDX_MAP, channel) ? (WRITES_IDX_MAP[channel] ?? place) : place;
    const slot = Math.min(index, 0);
    const record = bySlot.get(slot) ?? { taskId, taskPath, writes: [] };
    const write: WritesRecord["writes"][number] = [index, channel, await serialized(serde, value)];
    if (slot < 0) record.writes = [write];
    else record.writes.push(write);
    bySlot.set(slot, record);
  }
  return Promise.all(
    [...bySlot]
      .toSorted(([a], [b]) => a - b)
      .map(async ([slot, value]): Promise<LargeEntry> => ({
        key: await keys.taskWrites(checkpoint, taskId, slot),
        value,
        ...(slot === 0 && { ifVersion: null }),
      })),
  );
}

/** The values that fit into the checkpoint's entry. */
function heldOf(channels: readonly ChannelRecord[]): CheckpointRecord["values"] {
  let left = HELD_BYTES;
  return channels.flatMap(({ channel, value }): CheckpointRecord["values"] => {
    const bytes = new TextEncoder().encode(JSON.stringify([channel, value])).byteLength;
    if (bytes > left) return [];
    left -= bytes;
    return [[channel, value]];
  });
}
