import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { StorageThreadType } from "@mastra/core/memory";
import type { Cairn, StoredMessage } from "../../../client/src/index.ts";
import { hasCode } from "../../../client/src/error.ts";
import { type Appending, unlessMissing } from "./conversations.ts";
import { KnownThreads, type ThreadRecord } from "./known-threads.ts";
import { withDates, type Timed } from "./with-dates.ts";
import { Records } from "./records.ts";

type Change = { title?: string; metadata?: Record<string, unknown> };

/** `isAll`: there are no other messages. */
type WithLast = { record: ThreadRecord | null; last?: { items: readonly StoredMessage[]; isAll: boolean } };

/** The most messages of one call. */
const MESSAGES = 1_000;
/** The most bytes of a Cairn thread's title and other names. */
const NAME_BYTES = 1024;

/** Mastra's threads, each with the Cairn thread of its messages. */
export class ThreadRecords {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #records: Records<ThreadRecord>;
  /** The copies of a storage share it. */
  known = new KnownThreads();

  constructor(options: { memory: Cairn; user: string; prefix: string }) {
    this.#memory = options.memory;
    this.#user = options.user;
    this.#records = new Records(options, "threads");
  }

  all = (): Promise<ThreadRecord[]> => this.#records.all();

  async get(id: string): Promise<ThreadRecord | null> {
    const read = await this.#records.get(id);
    this.known.read(id, read?.value ?? null, read?.version);
    return read?.value ?? null;
  }

  async delete(id: string): Promise<void> {
    this.known.forget(id);
    await this.#records.delete(id);
  }

  /** The record and the last messages of its Cairn thread, in one call; undefined if the thread is not known. */
  async withLast(id: string, limit: number): Promise<WithLast | undefined> {
    const cairnThread = this.known.get(id)?.record?.cairnThread;
    if (cairnThread === undefined || limit > MESSAGES) return undefined;
    const key = await this.#records.keyOf(id);
    const { results } = await this.#memory.kv.batch(this.#user, [
      { op: "get", key },
      { op: "messages", threadId: cairnThread, limit },
    ]);
    const [head, last] = results;
    const read = await this.#records.whole(key, head);
    this.known.read(id, read?.value ?? null, read?.version);
    const record = read?.value ?? null;
    if (record?.cairnThread !== cairnThread || last?.messages === undefined) return { record };
    this.known.hasSeq(id, last.lastSeq ?? 0);
    return { record, last: { items: last.messages, isAll: last.length === last.messages.length } };
  }

  /** Saves new messages with the record in one step. False, and nothing is saved, if another writer may have been first. */
  async append(
    id: string,
    operationsOf: (record: ThreadRecord, lastSeq: number) => Promise<Appending | null>,
  ): Promise<boolean> {
    const { record, version, lastSeq } = this.known.get(id) ?? {};
    this.known.forget(id);
    if (!record || version === undefined || lastSeq === undefined) return false;
    const appending = await operationsOf(record, lastSeq);
    if (appending === null) return false;
    const saved = touched(record, { appended: appending.times });
    try {
      await this.#records.write(id, saved, { ifVersion: version, also: appending.operations });
    } catch (error) {
      // The thread was changed, deleted or continued elsewhere, or has one of these messages.
      if (hasCode(error, "precondition_failed") || hasCode(error, "not_found")) return false;
      throw error;
    }
    this.known.wrote(id, saved);
    return true;
  }

  /** Returns a thread's record, or creates it with a Cairn thread; concurrent callers get the same. */
  async getOrBegin(id: string, title?: string): Promise<ThreadRecord> {
    return (await this.get(id)) ?? this.#begin(id, null, title);
  }

  /** Replaces a deleted Cairn thread: another client deleted it, or `deleteThread` was interrupted. */
  async beginAnew({ id, cairnThread, thread }: ThreadRecord): Promise<ThreadRecord> {
    return this.#begin(id, cairnThread, thread?.title);
  }

  async #cairnThread(id: string, title: string | undefined): Promise<string> {
    const thread = await this.#memory.threads.create(this.#user, {
      agent: "mastra",
      ...(title && { title: nameOf(title) }),
      ...(id !== "" && { recordId: nameOf(id) }),
    });
    return thread.id;
  }

  async #begin(id: string, gone: string | null, title: string | undefined): Promise<ThreadRecord> {
    const cairnThread = await this.#cairnThread(id, title);
    this.known.forget(id);
    const record = await this.#records.change(id, (other): ThreadRecord => {
      if (other === null) return { id, cairnThread };
      if (other.cairnThread !== gone) return other;
      const { newestAt: _newestAt, outOfOrder: _outOfOrder, moved: _moved, ...rest } = other;
      return { ...rest, cairnThread };
    });
    if (record.cairnThread !== cairnThread) await this.#memory.threads.delete(cairnThread);
    return record;
  }

  /** Begins a thread that was missing when it was last read. False if another writer was first. */
  async #beginWhole(id: string, thread: Timed<StorageThreadType>): Promise<boolean> {
    const cairnThread = await this.#cairnThread(id, thread.title);
    const record: ThreadRecord = { id, cairnThread, thread };
    try {
      await this.#records.write(id, record, { ifVersion: null });
    } catch (error) {
      if (!hasCode(error, "precondition_failed")) throw error;
      await this.#memory.threads.delete(cairnThread);
      return false;
    }
    this.known.wrote(id, record);
    return true;
  }

  async save(thread: StorageThreadType): Promise<void> {
    const isMissing = this.known.get(thread.id)?.record === null;
    if (isMissing && (await this.#beginWhole(thread.id, timedOf(thread)))) return;
    const { cairnThread, thread: before } = await this.getOrBegin(thread.id, thread.title);
    const { id } = thread;
    const timed = timedOf(thread);
    await this.#change(id, (there): ThreadRecord => ({ id, cairnThread, ...there, thread: timed }));
    if (before !== undefined && before.title !== thread.title) await this.#name(cairnThread, thread.title);
  }

  /** Null if there is no such thread, or another resource owns it. */
  async update(
    id: string,
    change: (thread: StorageThreadType) => Change | undefined,
    resourceId?: string,
  ): Promise<StorageThreadType | null> {
    let title: string | undefined;
    const record = await this.#change(id, (there) => {
      const thread = threadIn(there);
      if (there?.thread === undefined || thread === null) return null;
      if (resourceId !== undefined && thread.resourceId !== resourceId) return null;
      const changed = change(thread);
      if (changed === undefined) return there;
      ({ title } = changed);
      const metadata = { ...thread.metadata, ...changed.metadata };
      const updatedAt = later(there.thread.updatedAt);
      return {
        ...there,
        thread: { ...there.thread, ...(title !== undefined && { title }), metadata, updatedAt },
      };
    });
    if (record !== null && title !== undefined) await this.#name(record.cairnThread, title);
    return threadIn(record);
  }

  /**
   * Records an upcoming change, so that an interrupted one stays on record. `appended`: times of the new messages, in
   * order; `moved`: true if messages move between threads.
   */
  async touch(
    id: string,
    { appended = [], moved = false }: { appended?: readonly number[]; moved?: boolean } = {},
  ): Promise<void> {
    await this.#change(id, (there) => there && touched(there, { appended, moved }));
  }

  /** Marks the thread out of order if a newer message, recorded meanwhile, may precede the appended ones. */
  async settle(id: string, appended: readonly number[]): Promise<void> {
    await this.#change(id, (there) => {
      const isNewest = (there?.newestAt ?? -Infinity) <= (appended.at(-1) ?? -Infinity);
      return there === null || isNewest || there.outOfOrder ? there : { ...there, outOfOrder: true as const };
    });
  }

  #change<R extends ThreadRecord | null>(id: string, change: (there: ThreadRecord | null) => R): Promise<R> {
    this.known.forget(id);
    return this.#records.change(id, change);
  }

  async #name(cairnThread: string, title: string | undefined): Promise<void> {
    const fields = { title: title === undefined ? null : nameOf(title) };
    await this.#memory.threads.patch(cairnThread, fields).catch(unlessMissing);
  }
}

export const threadIn = (record: ThreadRecord | null): StorageThreadType | null =>
  record?.thread === undefined ? null : withDates(record.thread);

function touched(
  record: ThreadRecord,
  { appended = [], moved = false }: { appended?: readonly number[]; moved?: boolean },
): ThreadRecord {
  const { thread, newestAt = -Infinity } = record;
  const [oldest = newestAt, newest = newestAt] = [appended[0], appended.at(-1)];
  return {
    ...record,
    ...(thread && { thread: { ...thread, updatedAt: later(thread.updatedAt) } }),
    ...(appended.length > 0 && { newestAt: Math.max(newestAt, newest) }),
    ...(oldest < newestAt && { outOfOrder: true as const }),
    ...(moved && { moved: true as const }),
  };
}

const timedOf = (thread: StorageThreadType): Timed<StorageThreadType> => ({
  ...thread,
  createdAt: timeOf(thread.createdAt),
  updatedAt: timeOf(thread.updatedAt),
});

/** An untyped caller may give a string. */
const timeOf = (date: Date): number => new Date(date).getTime();

/** Now, but at least 1 ms after `before`. */
const later = (before: number): number => Math.max(Date.now(), before + 1);

/** Cuts a text to the length of a name. */
const nameOf = (text: string): string => truncateUtf8(text, NAME_BYTES);
