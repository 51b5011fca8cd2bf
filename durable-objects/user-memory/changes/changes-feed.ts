import { invalidField, ok, type Result } from "../../../src/domain/errors.ts";
import type { Change, Changes } from "../../../src/domain/schema/changes.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { Removals } from "../core/removals.ts";
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
    const given = after === undefined ? undefined : placeOf(after);
    if (given === null) return invalidField("query.after", "is no version that this list answered");
    const isLost = given !== undefined && this.#isLost(given);
    const epoch = this.#deps.erasureEpoch.current;
    const from: Place = given === undefined || isLost ? { epoch, memory: 0, thread: 0 } : given;
    const memories = this.#memories(from.memory, limit);
    const threads = this.#threads(from.thread, limit - memories.found.length);
    const place: Place = { epoch, memory: memories.upTo, thread: threads.upTo };
    return ok({
      items: [...memories.found, ...threads.found].map(({ change }) => change),
      version: versionOf(place),
      more: memories.more || threads.more,
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

  #memories(after: number, limit: number) {
    const { memories, removals } = this.#deps;
    const upTo = this.#lastMemory();
    const put = memories
      .changedBetween([after, upTo], limit + 1)
      .map(({ version, recordedAt, ...memory }): Numbered => ({
        n: version,
        change: { type: "memory", ...memory, version, at: recordedAt },
      }));
    const gone = removals
      .between("memory", [after, upTo], limit + 1)
      .map(({ n, ids, at }): Numbered => ({ n, change: { type: "memoriesForgotten", ids, at } }));
    return page([...put, ...gone], { limit, after, upTo });
  }

  #threads(after: number, limit: number) {
    const { threads, removals } = this.#deps;
    const upTo = threads.lastChange();
    const changed = threads
      .changedBetween([after, upTo], limit + 1)
      .map(({ n, id, length, at }): Numbered => ({ n, change: { type: "thread", id, length, at } }));
    const gone = removals
      .between("thread", [after, upTo], limit + 1)
      .map(({ n, ids, at, erasure }): Numbered => ({
        n,
        change:
          erasure === true && ids !== null
            ? { type: "erasure", id: ids[0] ?? "", at }
            : { type: "threadsDeleted", ids, at },
      }));
    return page([...changed, ...gone], { limit, after, upTo });
  }
}

const versionOf = ({ epoch, memory, thread }: Place): string => `${epoch}.${memory}.${thread}`;

function placeOf(text: string): Place | null {
  const [, epoch, memory, thread] = PLACE.exec(text) ?? [];
  return epoch === undefined
    ? null
    : { epoch: Number(epoch), memory: Number(memory), thread: Number(thread) };
}

/** The first changes, and the number up to which all are told. */
function page(
  all: readonly Numbered[],
  { limit, after, upTo }: { limit: number; after: number; upTo: number },
): { found: Numbered[]; upTo: number; more: boolean } {
  const found = all.toSorted((a, b) => a.n - b.n).slice(0, limit);
  const more = all.length > limit;
  const last = more ? (found.at(-1)?.n ?? after) : Math.max(after, upTo);
  return { found, upTo: last, more };
}
