import type { Owner } from "../../../src/domain/memory/record.ts";
import type { DueMemories } from "./due-memories.ts";
import type { MemoryForgetter } from "./memory-forgetter.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { PendingWrites } from "./pending-writes.ts";

type ExpiryDependencies = {
  table: MemoryTable;
  pending: PendingWrites;
  due: DueMemories;
  forgetter: Pick<MemoryForgetter, "forgetInTurn">;
  now: () => number;
};
/** Memories of each kind that one alarm deletes. */
const SLICE = 1000;

/** The alarm's chore of memories: repeats pending writes, deletes expired memories, and ends waits in quarantine. */
export class MemoryExpiry {
  readonly #deps: ExpiryDependencies;

  constructor(deps: ExpiryDependencies) {
    this.#deps = deps;
  }

  async run(): Promise<void> {
    const { table, pending, due, forgetter, now } = this.#deps;
    const next = this.nextDue();
    if (next === null || next > now()) return;
    await pending.inTurn(async () => {
      // A pending write may replace an expired memory.
      const settled = await pending.flush();
      const over = due.over(now(), SLICE);
      const owner = table.clock.owner();
      if (owner === null) return;
      // Its entry has an expiry of its own, which a read may have extended.
      await forgetter.forgetInTurn(owner, over);
      if (settled) await this.#endWaits(owner);
      // An erasure that D1 lacks holds up all writes, and none of them says when to try again.
      else if (pending.log.nextDue() === null) throw new Error("D1 lacks an erasure of this user");
    });
  }

  /** The time of the next retry, expiry or end of a wait; null if there is none. */
  nextDue(): number | null {
    const { pending, due } = this.#deps;
    // Expired memories are hidden already, so they wait for a pending write.
    return pending.log.nextDue() ?? due.nextDue();
  }

  /** Expires a slice of the memories that wait for too long. In turn, with no write pending. */
  async #endWaits(owner: Owner): Promise<void> {
    const { pending, due, now } = this.#deps;
    if (!(await pending.flush())) return;
    // At once with the note: a memory that is deleted in between would come back.
    const put = due.late(now());
    if (put.length === 0) return;
    const outcome = await pending.put(owner, put);
    const expired = put.filter(({ correctedAt }) => correctedAt === null).length;
    // One that stays pending is carried out later, and noted now.
    if (outcome === "done" || outcome === "pending") await due.note(owner, expired, now());
    // The next try waits for longer and longer: these memories are due all the time.
    else throw new Error(`D1 did not take the end of waits in quarantine: ${outcome}`);
  }
}
