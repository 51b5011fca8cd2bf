import { errors, fail, type Failure, ok, type Result } from "../../../src/domain/errors.ts";
import { identityOf } from "../../../src/domain/memory/identity.ts";
import type { RulesByPredicate } from "../../../src/domain/memory/predicates.ts";
import { type Owner, releasedBodyOf, type Writer } from "../../../src/domain/memory/record.ts";
import { releaseIn } from "../../../src/domain/memory/rules.ts";
import { currentOf } from "../../../src/domain/memory/versions.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import type { ReviewedMemory } from "../../../src/domain/schema/review.ts";
import { d1Result } from "../../../src/platform/d1/d1-result.ts";
import type { PredicateRules } from "../../../src/platform/d1/predicate-rules.ts";
import { rulingOf } from "../../../src/platform/prepare-memories.ts";
import type {
  ReviewedMany,
  Reviewing,
  ReviewPlace,
  ReviewRequest,
} from "../../../src/contract/user-memory.ts";
import type { AnsweredRow } from "./answer-reference.ts";
import { conditionFailure, type DecidedWrites, NOT_DELETED, NOT_NOTED } from "./decided-writes.ts";
import type { DueMemories } from "./due-memories.ts";
import { MemoryDraft } from "./memory-draft.ts";
import type { MemoryForgetter } from "./memory-forgetter.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { PendingWrites } from "./pending-writes.ts";

type ReviewDependencies = {
  table: MemoryTable;
  writes: DecidedWrites;
  pending: PendingWrites;
  predicates: Pick<PredicateRules, "rules">;
  due: Pick<DueMemories, "waiting">;
  forgetter: Pick<MemoryForgetter, "forgetInTurn">;
  now: () => number;
};
export type ReleasedRow = { row: MemoryRow; ended?: readonly MemoryRow[] };

/** Memories that one write releases. Each is up to four rows of 32 KiB, and a write is kept in memory. */
const SLICE = 50;

/** Releases and rejects memories that wait in quarantine, many in one call, each with an outcome of its own. */
export class Review {
  readonly #deps: ReviewDependencies;

  constructor(deps: ReviewDependencies) {
    this.#deps = deps;
  }

  async many(owner: Owner, request: ReviewRequest): Promise<Result<ReviewedMany>> {
    const { decision, by } = request;
    if (decision === "release" && !isPerson(by.trust)) return fail("trust_too_low");
    const { table, due, now } = this.#deps;
    const { memories, next }: { memories: readonly Reviewing[]; next?: ReviewPlace } =
      "memories" in request
        ? { memories: onceEach(request.memories) }
        : due.waiting(request.matching, table.clock.latest(now()));
    const items =
      decision === "reject" ? await this.#reject(owner, memories) : await this.#release(owner, memories, by);
    return items.ok ? ok({ items: items.value, ...(next && { next }) }) : items;
  }

  /** Slice by slice. A slice that cannot be written fails the call if it is the first, and else its memories and all later ones. */
  async #release(owner: Owner, chosen: readonly Reviewing[], by: Writer): Promise<Result<ReviewedMemory[]>> {
    const rules = await d1Result(() => this.#deps.predicates.rules());
    if (!rules.ok) return rules;
    const items: ReviewedMemory[] = [];
    for (let i = 0; i < chosen.length; i += SLICE) {
      const slice = chosen.slice(i, i + SLICE);
      const released = await this.#releaseSlice(owner, slice, { by, rules: rules.value, isFirst: i === 0 });
      if (!released.ok) {
        if (i === 0) return released;
        items.push(...chosen.slice(i).map(({ id }) => failedItem(id, released)));
        break;
      }
      items.push(...released.value);
    }
    return ok(items);
  }

  /**
   * Releases memories in one write, without those whose release fails. The alarm embeds them. A first write that D1 does not confirm fails
   * the call, which may be repeated; a later one is noted, and so carried out.
   */
  async #releaseSlice(
    owner: Owner,
    slice: readonly Reviewing[],
    { by, rules, isFirst }: { by: Writer; rules: RulesByPredicate; isFirst: boolean },
  ): Promise<Result<ReviewedMemory[]>> {
    const { table, writes } = this.#deps;
    const items = new Map<string, ReviewedMemory>();
    /** The id under which each waited. */
    let released: string[] = [];
    const how = isFirst ? {} : { noted: () => {} };
    const written = await writes.write(owner, how, async (draft) => {
      const rows: AnsweredRow[] = [];
      released = [];
      for (const { id, condition } of slice) {
        if (items.has(id)) continue;
        const current = currentOf(draft, table.idOf(id) ?? id);
        const decided =
          current === null
            ? fail("not_found")
            : (conditionFailure(condition, current) ??
              (await decideRelease(draft, owner, { current, by, rules })));
        if (!decided.ok) {
          items.set(id, failedItem(id, decided));
          // It may have changed the draft already.
          return "again";
        }
        const { row, ended = [] } = decided.value;
        rows.push({ row, ended, rest: { created: false } });
        released.push(id);
      }
      return ok({ rows, vectors: new Map() });
    });
    if (!written.ok) return written;
    for (const [i, { memory, superseded }] of written.value.entries()) {
      const id = released[i] ?? memory.id;
      const { id: memoryId, version } = memory;
      items.set(id, { id, outcome: "released", memoryId, version, ...(superseded && { superseded }) });
    }
    return ok(slice.map(({ id }) => items.get(id) ?? failedItem(id, fail("not_found"))));
  }

  /** An entry that a rejected memory names stays: other memories may name it. */
  #reject(owner: Owner, chosen: readonly Reviewing[]): Promise<Result<ReviewedMemory[]>> {
    const { table, pending, forgetter, now } = this.#deps;
    return pending.inTurn(async () => {
      if (!(await pending.flush())) return pending.pendingFailure(NOT_NOTED);
      const draft = new MemoryDraft(table, table.clock.next(now()));
      const items = chosen.map(({ id, condition }): ReviewedMemory => {
        const current = currentOf(draft, id);
        // One that was released under this id is live.
        if (current === null && table.releasedAs(id) === null) return { id, outcome: "gone" };
        if (current === null || current.status === "active") return failedItem(id, fail("not_quarantined"));
        const unmet = conditionFailure(condition, current);
        return unmet === null ? { id, outcome: "rejected" } : failedItem(id, unmet);
      });
      const ids = items.filter(({ outcome }) => outcome === "rejected").map(({ id }) => id);
      return (await forgetter.forgetInTurn(owner, ids)) ? ok(items) : pending.pendingFailure(NOT_DELETED);
    });
  }
}

/** Decides the release of one memory. A memory that is live already stays as it is. */
export async function decideRelease(
  draft: MemoryDraft,
  owner: Owner,
  { current, by, rules }: { current: MemoryRow; by: Writer; rules: RulesByPredicate },
): Promise<Result<ReleasedRow>> {
  if (current.status === "active") return ok({ row: current });
  const { trust } = by;
  if (!isPerson(trust)) return fail("trust_too_low");
  const body = releasedBodyOf(current, draft.time);
  const identity = await identityOf(owner.hash, body, false);
  const { writtenBy, sources } = current.provenance ?? {};
  return releaseIn(draft, owner, current, {
    body,
    identity,
    status: "active",
    by: { trust, ...(writtenBy && { writtenBy }), ...(sources && { sources }) },
    ...rulingOf(body, rules),
  });
}

/** Each id once: the first condition holds. */
const onceEach = (chosen: readonly Reviewing[]): Reviewing[] =>
  [...new Map(chosen.toReversed().map((one) => [one.id, one])).values()].toReversed();

const failedItem = (id: string, { code, message, details }: Failure): ReviewedMemory => ({
  id,
  outcome: "failed",
  error: {
    code,
    message: [message ?? errors[code][1], ...(details ?? []).map((one) => `${one.path} ${one.message}`)].join(
      " ",
    ),
  },
});
