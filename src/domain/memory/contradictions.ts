import { fail, type Failure } from "../errors.ts";
import type { Draft } from "./draft.ts";
import { normalise } from "./normalise.ts";
import { oppositesOf } from "./opposites.ts";
import { type NewMemory, validFromOf } from "./record.ts";
import type { MemoryRow } from "./table.ts";
import { goesOn } from "./versions.ts";

/**
 * The resulting version. `created`: the memory is new. `replaced`: it says this in place of something else. `ended`: the versions of
 * facts that it ended, as they were.
 */
export type Ruled = { row: MemoryRow; created: boolean; replaced?: boolean; ended?: readonly MemoryRow[] };

/** The rule that holds for a fact. */
export type Ruling = Pick<NewMemory, "policy" | "opposites">;

/** The failure where another memory has this externalId; null otherwise. */
export function takenBy(draft: Draft, externalId: string | undefined, id: string | null): Failure | null {
  const other = externalId === undefined ? null : draft.withExternalId(externalId);
  if (other === null || other.id === id) return null;
  return fail("external_id_taken", {
    details: [{ path: "externalId", message: `is the id of ${other.id}` }],
  });
}

export const conflict = ({ id }: MemoryRow): Failure =>
  fail("fact_conflict", { details: [{ path: "object", message: `contradicts the memory ${id}` }] });

/**
 * The live facts that say the opposite of a candidate when it begins to be true. It ends them; and it ends itself when the next such
 * fact begins, unless it ends before.
 */
export function againstOpposites(
  draft: Draft,
  candidate: NewMemory,
): { before: MemoryRow[]; candidate: NewMemory } {
  const { body, identity, status, policy, opposites } = candidate;
  const { subject, predicate, object, scope = null, validTo = Infinity } = body;
  const isClaim = subject !== undefined && predicate !== undefined && object !== undefined;
  if (status !== "active" || !isClaim) return { before: [], candidate };
  const claim = { id: identity.id, subjectNorm: normalise(subject), predicate, object, scope };
  const { before, next } = oppositesAt(draft, claim, {
    from: validFromOf(body, draft.time),
    policy,
    opposites,
  });
  return {
    before,
    candidate: next < validTo ? { ...candidate, body: { ...body, validTo: next } } : candidate,
  };
}

/** The opposites of a live fact that are true at a time, and when the next one begins. */
export function oppositesAt(
  draft: Draft,
  claim: Pick<MemoryRow, "scope"> & {
    id: string | null;
    subjectNorm: string;
    predicate: string;
    object: string;
  },
  { from, policy, opposites: named = [] }: Pick<NewMemory, "policy" | "opposites"> & { from: number },
): { before: MemoryRow[]; next: number } {
  if (policy === "keepAll") return { before: [], next: Infinity };
  const opposites = draft
    .ofSubject(claim.subjectNorm, oppositesOf(claim, named))
    .filter((row) => row.id !== claim.id && row.scope === claim.scope && row.status === "active")
    .filter((row) => goesOn(row, from) && (row.supersededAt ?? Infinity) > from);
  return {
    before: opposites.filter((row) => row.validFrom <= from),
    next: Math.min(...opposites.map((row) => row.validFrom).filter((start) => start > from)),
  };
}
