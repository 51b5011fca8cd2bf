import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  getCheckpointId,
  type PendingWrite,
  type SerializerProtocol,
} from "@langchain/langgraph-checkpoint";
import { hasCode } from "../../../client/src/error.ts";
import type { Cairn } from "../../../client/src/index.ts";
import { CheckpointKeys, threadIn } from "./checkpoint-keys.ts";
import { CheckpointReader } from "./checkpoint-reader.ts";
import { CheckpointTuples } from "./checkpoint-tuples.ts";
import { addHistory } from "./delta-history.ts";
import { configOf, namespaceOf, requiredThreadId, threadIdOf, type RunnableConfig } from "./config.ts";
import {
  type CheckpointRecord,
  metadataOf,
  type WritesRecord,
  type WrittenCheckpoint,
} from "./checkpoint-record.ts";
import { checkpointEntries, taskEntries } from "./checkpoint-entries.ts";
import { RunWrites } from "./run-writes.ts";
import { LargeEntries, type LargeEntry } from "../entries/large-entries.ts";
import { limited, limitMethods, type TimeLimit } from "../limits/time-limit.ts";
import { requireUser } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";

export type CairnSaverOptions = TimeLimit & {
  memory: Cairn;
  /** The user who owns the checkpoints; erasing the user deletes them. */
  user: string;
  /** Prepended to the keys of all entries, to 128 bytes; `langgraph/checkpoints/` unless set. */
  prefix?: string;
  /** The SDK's own unless set. */
  serde?: SerializerProtocol;
};

const OPTIONS: OptionNames<CairnSaverOptions> = {
  memory: true,
  user: true,
  prefix: true,
  serde: true,
  timeoutMs: true,
};

/** `list` is read lazily: each of its calls has the limit. */
const METHODS = ["getTuple", "put", "putWrites", "deleteThread", "getDeltaChannelHistory"] as const;

/** Checkpoints that a listing completes at once. */
const TUPLES_AT_ONCE = 20;
/** Tries of a write against concurrent writers for the same task. */
const ATTEMPTS = 10;
/**
 * Keeps the checkpoints of LangGraph's threads in a user's key-value entries.
 *
 * @example
 * const graph = builder.compile({ checkpointer: new CairnSaver({ memory, user: "alice" }) });
 * await graph.invoke(input, { configurable: { thread_id: "trip" } });
 */
export class CairnSaver extends BaseCheckpointSaver {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #prefix: string;
  #writes = new RunWrites();
  /** The limit of the method that runs on this copy. */
  #limit: AbortSignal | undefined;

  constructor(options: CairnSaverOptions) {
    requireUser("CairnSaver", options, OPTIONS);
    const { memory, user, prefix = "langgraph/checkpoints/", serde } = options;
    super(serde);
    this.#memory = limited(memory, options);
    this.#user = user;
    this.#prefix = prefix;
    const copy = (own: Cairn, limit: AbortSignal) => {
      const copied = new CairnSaver({ ...options, memory: own });
      copied.serde = this.serde;
      copied.#writes = this.#writes;
      copied.#limit = limit;
      copied.getNextVersion = (current) => this.getNextVersion(current);
      return copied;
    };
    limitMethods(this, METHODS, options, copy, CairnSaver.prototype);
  }

  /** The checkpoint of `config`, or the thread's latest; undefined if there is none. */
  async getTuple(config: RunnableConfig): Promise<CheckpointTuple | undefined> {
    const threadId = threadIdOf(config);
    if (threadId === undefined) return undefined;
    const { reader } = await this.#thread(threadId);
    const namespace = namespaceOf(config);
    const id = getCheckpointId(config);
    const written = await (id === "" ? reader.newest(namespace) : reader.checkpoint(namespace, id));
    if (written === undefined) return undefined;
    const [tuple] = await this.#tuplesOf(reader).of([written]);
    return tuple;
  }

  /** Checkpoints of one thread or all, and of one namespace or all; latest first. Reads pages lazily. */
  async *list(
    config: RunnableConfig,
    { before, limit = Infinity, filter }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    const id = getCheckpointId(config);
    const end = before === undefined ? "" : getCheckpointId(before);
    const isWanted = async (record: CheckpointRecord) =>
      (id === "" || record.id === id) &&
      (end === "" || record.id < end) &&
      (filter === undefined || fits(await metadataOf(this.serde, record), filter));
    let left = limit;
    for await (const threadId of this.#threadIds(config)) {
      if (left <= 0) return;
      for await (const tuple of this.#listThread(threadId, config, { isWanted, limit: left })) {
        yield tuple;
        left--;
      }
    }
  }

  /** Stores the changed parts of a checkpoint, all or none. */
  async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions: ChannelVersions,
  ): Promise<RunnableConfig> {
    const threadId = requiredThreadId(config, "put a checkpoint");
    const name = { threadId, namespace: namespaceOf(config), id: checkpoint.id };
    const parentId = getCheckpointId(config);
    const entries = new LargeEntries(this.#memory, this.#user);
    await this.#writes.store(config.metadata, {
      into: entries,
      limit: this.#limit,
      entries: checkpointEntries(
        { serde: this.serde, prefix: this.#prefix },
        { ...name, ...(parentId !== "" && { parentId }) },
        { checkpoint, metadata, newVersions },
      ),
      alone: (made) => entries.write(made),
    });
    return configOf(name);
  }

  /**
   * Stores a task's writes on top of a checkpoint, all or none. Keeps the task's earlier writes, but replaces errors,
   * interrupts and the like.
   */
  async putWrites(
    config: RunnableConfig,
    writes: PendingWrite[],
    taskId: string,
    taskPath = "",
  ): Promise<void> {
    const threadId = requiredThreadId(config, "put writes");
    const id = getCheckpointId(config);
    if (id === "")
      throw new Error('Failed to put writes: "checkpoint_id" is missing in config.configurable.');
    if (writes.length === 0) return;
    const entries = new LargeEntries(this.#memory, this.#user);
    await this.#writes.store(config.metadata, {
      into: entries,
      limit: this.#limit,
      entries: taskEntries(
        { serde: this.serde, prefix: this.#prefix },
        { threadId, namespace: namespaceOf(config), id },
        { writes, taskId, taskPath },
      ),
      alone: (made) => this.#addWrites(entries, made),
    });
  }

  /** Deletes all checkpoints of the thread and their writes, in one step. */
  async deleteThread(threadId: string): Promise<void> {
    const keys = await CheckpointKeys.of(this.#prefix, threadId);
    await this.#memory.kv.deletePrefix(this.#user, keys.all);
  }

  /** The ancestors' writes to channels since each value was last stored. Reads pages, not each ancestor. */
  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: RunnableConfig;
    channels: string[];
  }): Promise<Record<string, DeltaChannelHistory>> {
    const threadId = threadIdOf(config);
    const history: Record<string, DeltaChannelHistory> = {};
    for (const channel of channels) history[channel] = { writes: [] };
    if (threadId === undefined || channels.length === 0) return history;
    const { reader } = await this.#thread(threadId);
    await addHistory(history, { reader, serde: this.serde, config });
    return history;
  }

  /**
   * Increasing integers, as the SDK's, plus a random fraction. So two branches of one checkpoint never give the same
   * version to different values.
   */
  override getNextVersion(current: number | undefined): number {
    return Math.floor(super.getNextVersion(current)) + Math.random();
  }

  async #thread(threadId: string) {
    const keys = await CheckpointKeys.of(this.#prefix, threadId);
    const entries = new LargeEntries(this.#memory, this.#user);
    const reader = new CheckpointReader({ memory: this.#memory, user: this.#user }, entries, keys);
    return { keys, entries, reader };
  }

  #tuplesOf(reader: CheckpointReader): CheckpointTuples {
    return new CheckpointTuples(reader, this.serde, (current) => this.getNextVersion(current));
  }

  /** The config's thread, or all threads with a checkpoint. */
  async *#threadIds(config: RunnableConfig): AsyncGenerator<string> {
    const only = threadIdOf(config);
    if (only !== undefined) {
      yield only;
      return;
    }
    let last: string | undefined;
    for await (const { key } of this.#memory.kv.all(this.#user, { prefix: this.#prefix, limit: 1000 })) {
      const thread = threadIn(this.#prefix, key);
      if (thread === undefined || thread === last) continue;
      last = thread;
      // The key may hold a hash instead of the id.
      const entries = new LargeEntries(this.#memory, this.#user);
      const [record] = await entries.read<CheckpointRecord>([key]);
      if (record !== null && record !== undefined) yield record.threadId;
    }
  }

  async *#listThread(
    threadId: string,
    config: RunnableConfig,
    { isWanted, limit }: { isWanted: (record: CheckpointRecord) => Promise<boolean>; limit: number },
  ): AsyncGenerator<CheckpointTuple> {
    const { reader } = await this.#thread(threadId);
    // Here, unlike elsewhere, no namespace means all.
    const namespace = config.configurable?.checkpoint_ns === undefined ? undefined : namespaceOf(config);
    const tuples = this.#tuplesOf(reader);
    let left = limit;
    let some: WrittenCheckpoint[] = [];
    for await (const written of reader.checkpoints(namespace)) {
      if (left <= 0) break;
      if (!(await isWanted(written.record))) continue;
      some.push(written);
      left--;
      if (some.length < TUPLES_AT_ONCE) continue;
      yield* await tuples.of(some);
      some = [];
    }
    yield* await tuples.of(some);
  }

  /** Adds the new writes to the task's earlier ones. */
  async #addWrites(entries: LargeEntries, made: readonly LargeEntry[]): Promise<void> {
    const others = made.filter(({ ifVersion }) => ifVersion === undefined);
    const ordinary = made.find(({ ifVersion }) => ifVersion !== undefined);
    if (ordinary === undefined) return entries.write(others);
    const { key } = ordinary;
    // `taskEntries` made it.
    const value = ordinary.value as WritesRecord;
    let ifVersion: string | null = null;
    let all = value;
    for (let attempt = 1; ; attempt++) {
      try {
        return await entries.write([...others, { key, value: all, ifVersion }]);
      } catch (error) {
        const isTaken = hasCode(error, "precondition_failed");
        if (!isTaken || attempt === ATTEMPTS) throw error;
      }
      const there = await this.#memory.kv.getVersioned(this.#user, key);
      const before = there && (await entries.whole<WritesRecord>(key, there.value));
      const added = value.writes.filter(
        ([index]) => before?.writes.every(([other]) => other !== index) ?? true,
      );
      if (before && added.length === 0) return entries.write(others);
      ifVersion = there?.version ?? null;
      all = before ? { ...before, writes: [...before.writes, ...added] } : value;
    }
  }
}

/** Compares each field; objects by content. */
const fits = (metadata: CheckpointMetadata, filter: Record<string, unknown>): boolean =>
  Object.entries(filter).every(([field, value]) => {
    const actual: unknown = Reflect.get(metadata, field);
    return actual === value || JSON.stringify(actual) === JSON.stringify(value);
  });
