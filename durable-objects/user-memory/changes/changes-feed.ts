import { invalidField, ok, type Result } from "../../../src/domain/errors.ts";
import type { Change, Changes } from "../../../src/domain/schema/changes.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { ChangeOrder, Removal, Removals } from "../core/removals.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { ThreadStore } from "../threads/thread-store.ts";

type ChangesFeedDependencies = {
  removals: Removals;
  memories: Pick<MemoryTable, "changedBetween" | "clock">;
  threads: Pick<ThreadStore, "changedBetween" | "lastChange">;
  erasureEpoch: Pick<ErasureEpoch, "current">;
  /** The lowest version that a pending write puts; Infinity without one. */
  firstPending: () => number;
};
/** The place of a reader: an erasure ends the epoch. */
type Place = { epoch: number; memory: number; thread: number };
type Numbered = { n: number; change: Change };

const PLACE = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/;

/** Tells what changed since a place, in the order of memories and in that of threads. Ids and versions only. */
export class ChangesFeed {
  readonly #deps: ChangesFeedDependencies;

  constructor(deps: ChangesFeedDependencies) {
    this.#deps = deps;
  }

  /** The version of a reader who knows all changes. */
  get version(): string {
    return versionOf({
      epoch: this.#deps.erasureEpoch.current,
      memory: this.#lastMemory(),
      thread: this.#deps.threads.lastChange(),
    });
  }

  /** The version of a user who has nothing. */
  get versionOfNothing(): string {
    return versionOf({ epoch: this.#deps.erasureEpoch.current, memory: 0, thread: 0 });
  }

  /** A version gets its number before D1 has it: nothing behind a pending one is told yet. */
  #lastMemory(): number {
    return Math.min(this.#deps.memories.clock.lastVersion(), this.#deps.firstPending() - 1);
  }

  read({ after, limit }: { after?: string; limit: number }): Result<Changes> {
    const { erasureEpoch, threads } = this.#deps;
    const place = after === undefined ? undefined : placeOf(after);
    if (place === null) return invalidField("query.after", "is no version that this list answered");
    const isLost = place !== undefined && this.#isLost(place);
    const from = place === undefined || isLost ? { memory: 0, thread: 0 } : place;
    const ofMemories = this.#page("memory", [from.memory, this.#lastMemory()], limit);
    const ofThreads = this.#page(
      "thread",
      [from.thread, threads.lastChange()],
      limit - ofMemories.items.length,
    );
    return ok({
      items: [...ofMemories.items, ...ofThreads.items],
      version: versionOf({ epoch: erasureEpoch.current, memory: ofMemories.upTo, thread: ofThreads.upTo }),
      more: ofMemories.more || ofThreads.more,
      ...(isLost && { reset: true as const }),
    });
  }

  /** True if the reader has missed changes that nothing tells of any more, or comes from a state that is lost. */
  #isLost({ epoch, memory, thread }: Place): boolean {
    const { erasureEpoch, memories, threads, removals } = this.#deps;
    return (
      epoch !== erasureEpoch.current ||
      memory > memories.clock.lastVersion() ||
      thread > threads.lastChange() ||
      (memory > 0 && memory < removals.prunedUpTo("memory")) ||
      (thread > 0 && thread < removals.prunedUpTo("thread"))
    );
  }

  /** The first changes of an order, and the number up to which it is all of them. */
  #page(order: ChangeOrder, [after, upTo]: readonly [number, number], limit: number) {
    const range = [after, upTo] as const;
    const gone = this.#deps.removals.between(order, range, limit + 1);
    const put = order === "memory" ? this.#memories(range, limit + 1) : this.#threads(range, limit + 1);
    const all = [...put, ...gone.map((one): Numbered => ({ n: one.n, change: removed(order, one) }))];
    const page = all.toSorted((a, b) => a.n - b.n).slice(0, limit);
    const more = all.length > limit;
    return {
      items: page.map(({ change }) => change),
      upTo: more ? (page.at(-1)?.n ?? after) : Math.max(after, upTo),
      more,
    };
  }

  #memories(range: readonly [number, number], limit: number): Numbered[] {
    const memories = this.#deps.memories.changedBetween(range, limit);
    return memories.map(({ version, recordedAt: at, ...memory }) => ({
      n: version,
      change: { type: "memory", ...memory, version, at },
    }));
  }

  #threads(range: readonly [number, number], limit: number): Numbered[] {
    const threads = this.#deps.threads.changedBetween(range, limit);
    return threads.map(({ n, ...thread }) => ({ n, change: { type: "thread", ...thread } }));
  }
}

const removed = (order: ChangeOrder, { ids, at, erasure }: Removal): Change =>
  order === "memory"
    ? { type: "memoriesForgotten", ids, at }
    : erasure === true && ids !== null
      ? { type: "erasure", id: ids[0] ?? "", at }
      : { type: "threadsDeleted", ids, at };

const versionOf = ({ epoch, memory, thread }: Place): string => `${epoch}.${memory}.${thread}`;

function placeOf(text: string): Place | null {
  const [, epoch, memory, thread] = PLACE.exec(text) ?? [];
  return epoch === undefined
    ? null
    : { epoch: Number(epoch), memory: Number(memory), thread: Number(thread) };
}
