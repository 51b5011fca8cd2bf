import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import type { StorageThreadType } from "@mastra/core/memory";
import type { Cairn } from "../../index.ts";
import { unlessMissing } from "./conversations.ts";
import { withDates, type Timed } from "./with-dates.ts";
import { Records } from "./records.ts";

/** A thread as its entry holds it; without `thread` if messages came before it was saved. */
export type ThreadRecord = {
  id: string;
  cairnThread: string;
  thread?: Timed<StorageThreadType>;
  /** The time of its newest message, appended or about to be, in milliseconds since the epoch. */
  newestAt?: number;
  /** An older message may follow a newer one: the last messages of the Cairn thread may not be the newest. */
  outOfOrder?: true;
  /** Messages moved, or are about to move, between this thread and others. */
  moved?: true;
};

type Change = { title?: string; metadata?: Record<string, unknown> };

/** The most bytes of a Cairn thread's title and other names. */
const NAME_BYTES = 1024;

/** Mastra's threads, each with the Cairn thread of its messages. */
export class ThreadRecords {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #records: Records<ThreadRecord>;

  constructor(options: { memory: Cairn; user: string; prefix: string }) {
    this.#memory = options.memory;
    this.#user = options.user;
    this.#records = new Records(options, "threads");
  }

  get = (id: string): Promise<ThreadRecord | null> => this.#records.get(id);
  all = (): Promise<ThreadRecord[]> => this.#records.all();
  delete = (id: string): Promise<void> => this.#records.delete(id);

  /** Returns a thread's record, or creates it with a Cairn thread; concurrent callers get the same. */
  async getOrBegin(id: string, title?: string): Promise<ThreadRecord> {
    return (await this.#records.get(id)) ?? this.#begin(id, null, title);
  }

  /** Replaces a deleted Cairn thread: another client deleted it, or `deleteThread` was interrupted. */
  async beginAnew({ id, cairnThread, thread }: ThreadRecord): Promise<ThreadRecord> {
    return this.#begin(id, cairnThread, thread?.title);
  }

  async #begin(id: string, gone: string | null, title: string | undefined): Promise<ThreadRecord> {
    const { id: cairnThread } = await this.#memory.threads.create(this.#user, {
      agent: "mastra",
      ...(title && { title: nameOf(title) }),
      ...(id !== "" && { recordId: nameOf(id) }),
    });
    const record = await this.#records.change(id, (other): ThreadRecord => {
      if (other === null) return { id, cairnThread };
      if (other.cairnThread !== gone) return other;
      const { newestAt: _newestAt, outOfOrder: _outOfOrder, moved: _moved, ...rest } = other;
      return { ...rest, cairnThread };
    });
    if (record.cairnThread !== cairnThread) await this.#memory.threads.delete(cairnThread);
    return record;
  }

  async save(thread: StorageThreadType): Promise<void> {
    const { cairnThread, thread: before } = await this.getOrBegin(thread.id, thread.title);
    const { id } = thread;
    const timed = { ...thread, createdAt: timeOf(thread.createdAt), updatedAt: timeOf(thread.updatedAt) };
    await this.#records.change(id, (there): ThreadRecord => ({ id, cairnThread, ...there, thread: timed }));
    if (before !== undefined && before.title !== thread.title) await this.#name(cairnThread, thread.title);
  }

  /** Null if there is no such thread, or another resource owns it. */
  async update(
    id: string,
    change: (thread: StorageThreadType) => Change | undefined,
    resourceId?: string,
  ): Promise<StorageThreadType | null> {
    let title: string | undefined;
    const record = await this.#records.change(id, (there) => {
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
    await this.#records.change(id, (there) => {
      if (there === null) return null;
      const { thread, newestAt = -Infinity } = there;
      const [oldest = newestAt, newest = newestAt] = [appended[0], appended.at(-1)];
      return {
        ...there,
        ...(thread && { thread: { ...thread, updatedAt: later(thread.updatedAt) } }),
        ...(appended.length > 0 && { newestAt: Math.max(newestAt, newest) }),
        ...(oldest < newestAt && { outOfOrder: true as const }),
        ...(moved && { moved: true as const }),
      };
    });
  }

  /** Marks the thread out of order if a newer message, recorded meanwhile, may precede the appended ones. */
  async settle(id: string, appended: readonly number[]): Promise<void> {
    await this.#records.change(id, (there) => {
      const isNewest = (there?.newestAt ?? -Infinity) <= (appended.at(-1) ?? -Infinity);
      return there === null || isNewest || there.outOfOrder ? there : { ...there, outOfOrder: true as const };
    });
  }

  async #name(cairnThread: string, title: string | undefined): Promise<void> {
    const fields = { title: title === undefined ? null : nameOf(title) };
    await this.#memory.threads.patch(cairnThread, fields).catch(unlessMissing);
  }
}

export const threadIn = (record: ThreadRecord | null): StorageThreadType | null =>
  record?.thread === undefined ? null : withDates(record.thread);

/** An untyped caller may give a string. */
const timeOf = (date: Date): number => new Date(date).getTime();

/** Now, but at least 1 ms after `before`. */
const later = (before: number): number => Math.max(Date.now(), before + 1);

/** Cuts a text to the length of a name. */
const nameOf = (text: string): string => truncateUtf8(text, NAME_BYTES);
