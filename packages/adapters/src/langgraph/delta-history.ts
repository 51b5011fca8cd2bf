import {
  type DeltaChannelHistory,
  getCheckpointId,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { type CheckpointReader, nameOf } from "./checkpoint-reader.ts";
import { checkpointOf, pendingWritesOf, type WrittenCheckpoint } from "./checkpoint-record.ts";
import { namespaceOf, type RunnableConfig } from "./config.ts";
import { deserialized } from "./serialized.ts";

/** Ancestors whose values are read at once. */
const AT_ONCE = 20;

type Thread = { reader: CheckpointReader; serde: SerializerProtocol };
type Histories = Record<string, DeltaChannelHistory>;

/**
 * Adds to each channel's history its last stored value and the ancestors' writes since. Reads pages of the namespace;
 * the SDK's own method reads each ancestor by itself.
 */
export async function addHistory(
  history: Histories,
  { config, ...thread }: Thread & { config: RunnableConfig },
): Promise<void> {
  const { reader } = thread;
  const namespace = namespaceOf(config);
  const id = getCheckpointId(config);
  const target = await (id === "" ? reader.newest(namespace) : reader.checkpoint(namespace, id));
  const open = new Set(Object.keys(history));
  let next = target?.record.parentId;
  let path: WrittenCheckpoint[] = [];
  // Ids increase with time: a parent follows its children.
  for await (const written of reader.checkpoints(namespace)) {
    if (next === undefined || open.size === 0) break;
    if (written.record.id !== next) continue;
    path.push(written);
    next = written.record.parentId;
    if (path.length < AT_ONCE) continue;
    await addAncestors(history, { ...thread, path, open });
    path = [];
  }
  await addAncestors(history, { ...thread, path, open });
}

async function addAncestors(
  history: Histories,
  { reader, serde, path, open }: Thread & { path: readonly WrittenCheckpoint[]; open: Set<string> },
): Promise<void> {
  const ancestors = await Promise.all(
    path.map(async ({ record, writes }) => ({
      writes,
      versions: (await checkpointOf(serde, record)).channel_versions,
    })),
  );
  const wanted = ancestors.flatMap(({ versions }) =>
    Object.entries(versions).filter(([channel]) => open.has(channel)),
  );
  const values = await reader.channels(path[0]?.record.namespace ?? "", wanted);
  for (const { writes, versions } of ancestors) {
    if (open.size === 0) return;
    const pending = await pendingWritesOf(serde, writes);
    for (const channel of open) {
      const found = history[channel];
      if (found === undefined) continue;
      found.writes.unshift(...pending.filter(([, written]) => written === channel));
      const value = values.get(nameOf(channel, versions[channel] ?? ""))?.value;
      if (value === undefined) continue;
      found.seed = await deserialized(serde, value);
      open.delete(channel);
    }
  }
}
