import { fail, ok, type Result } from "../errors.ts";
import { type Ruled, conflict, takenBy, againstOpposites } from "./contradictions.ts";
import type { Draft } from "./draft.ts";
import { replacement, merged } from "./merge.ts";
import { type NewMemory, type Owner, provenanceOf, validFromOf, withSources } from "./record.ts";
import { withSameText, isChain, against, states, reaches } from "./stored-match.ts";
import type { MemoryRow } from "./table.ts";
import { outranks, trustOfRole } from "./trust.ts";
import { begin, amend, link, goesOn, neverTrue, endAll, NOT_AHEAD, isOver } from "./versions.ts";

/** `statedAt`: the time at which the owner of the memory states it, in the message that it cites; null if they do not. */
type Statement = NewMemory & { statedAt?: () => number | null };

/** Remembers one memory: adds a new one, or changes a stored one. */
export function rememberIn(draft: Draft, owner: Owner, statement: Statement): Result<Ruled> {
  const { before: opposites, candidate } = againstOpposites(draft, statement);
  const { body, identity } = candidate;
  if (isOver(body, draft.time))
    return fail("invalid_request", { details: [{ path: "expiresAt", message: NOT_AHEAD }] });
  const externalId = candidate.status === "active" ? body.externalId : undefined;
  const taken = takenBy(draft, externalId, identity.id);
  if (taken !== null) return taken;
  const contest = contested(draft, owner, { statement, candidate, opposites });
  if ("ruled" in contest) return contest.ruled;
  const { settled } = contest;
  const ruled =
    identity.how === "supersede" ? supersede(draft, owner, settled) : addOrReplace(draft, owner, settled);
  if (!ruled.ok) return ruled;
  if (!neverTrue(ruled.value.row)) {
    endAll(draft, opposites, validFromOf(body, draft.time));
    return ok({ ...ruled.value, ended: [...(ruled.value.ended ?? []), ...opposites] });
  }
  return fail("invalid_request", {
    details: [{ path: "validTo", message: "is not after validFrom, which is now unless set" }],
  });
}

/** A candidate beside the stored facts that it restates or contradicts: its ruling if they hold it off, or as it may be written. */
function contested(
  draft: Draft,
  owner: Owner,
  {
    statement,
    candidate,
    opposites,
  }: { statement: Statement; candidate: NewMemory; opposites: readonly MemoryRow[] },
): { ruled: Result<Ruled> } | { settled: NewMemory } {
  const match = against(draft, candidate);
  const isContrary = match !== null && !states(match, candidate);
  const contrary = isContrary ? match : opposites[0];
  if (contrary !== undefined && candidate.policy === "reject") return { ruled: conflict(contrary) };
  if (isContrary && candidate.replaces === false)
    return { ruled: wait(draft, owner, candidate, { match, reason: REPLACES }) };
  const stronger = [...(match === null ? [] : [match]), ...opposites].filter(
    (row) => candidate.policy !== "lastWriter" && outranks(row.trust, candidate.by.trust),
  );
  const [guarded] = stronger;
  if (guarded === undefined) return { settled: candidate };
  if (guarded === match && !isContrary) {
    const provenance = withSources(match, candidate, match.provenance ?? {});
    return { ruled: ok({ row: amend(draft, match, { provenance }), created: false }) };
  }
  if (!isStatedSince(statement, stronger))
    return { ruled: wait(draft, owner, candidate, { match: guarded, reason: CONFLICT }) };
  // The next writer without a statement is held as well.
  return { settled: { ...candidate, by: { ...candidate.by, trust: trustOfRole("user") } } };
}

/** True if a model writes what the owner of the memory has stated after these facts were written. */
function isStatedSince({ by, statedAt }: Statement, rows: readonly MemoryRow[]): boolean {
  if (by.trust !== "model") return false;
  const at = statedAt?.() ?? null;
  return at !== null && rows.every(({ recordedAt }) => recordedAt <= at + AHEAD_MS);
}

/** The time of a write is later than that of the one before, and so may be ahead of the clock. */
const AHEAD_MS = 1_000;

/** Quarantines a candidate that may not change a stored memory. */
function wait(
  draft: Draft,
  owner: Owner,
  candidate: NewMemory,
  { match, reason }: { match: MemoryRow; reason: string },
): Result<Ruled> {
  const { by, inQuarantine } = candidate;
  if (inQuarantine === undefined) throw new Error("a writer that is outranked has an identity in quarantine");
  const reasons = [...(by.reasons ?? []), reason];
  return addOrReplace(draft, owner, {
    ...candidate,
    identity: inQuarantine,
    status: "quarantined",
    by: { ...by, reasons, conflictsWith: match.id },
  });
}

/** The reason of a memory that waits in quarantine for a decision about a memory of a higher trust. */
const CONFLICT = "conflicts_with_higher_trust";
/** The reason of an extracted procedure that would change a stored one. */
const REPLACES = "replaces_procedure";

function addOrReplace(draft: Draft, owner: Owner, candidate: NewMemory): Result<Ruled> {
  const { body, identity } = candidate;
  const from = validFromOf(body, draft.time);
  const byId = identity.id === null ? undefined : draft.current(identity.id).at(-1);
  const known = byId ?? withSameText(draft, candidate);
  if (known === null) return ok({ row: begin(draft, owner, candidate), created: true });
  if (identity.how === "replace")
    return ok({
      row: amend(draft, known, replacement(known, candidate)),
      created: false,
      replaced: !states(known, candidate),
    });
  const changes = merged(known, candidate);
  if (!changes.ok) return changes;
  // A fact that supersedes others keeps its start.
  const validFrom = isChain(known) ? known.validFrom : Math.min(known.validFrom, from);
  return ok({ row: amend(draft, known, { ...changes.value, validFrom }), created: false });
}

/**
 * Facts of which one is true at a time. The same statement again adds to the stored fact. Another statement is true from
 * its `validFrom` until the next stored fact, and ends the fact before it.
 */
function supersede(draft: Draft, owner: Owner, candidate: NewMemory): Result<Ruled> {
  const { body, identity } = candidate;
  const from = validFromOf(body, draft.time);
  const rows = draft.current(identity.id ?? "");
  const before = rows.findLast((row) => row.validFrom <= from);
  const after = rows.find((row) => row.validFrom > from);
  // A fact that ended, and begins again, is another version.
  const begins = after !== undefined && reaches(body, after) ? after : undefined;
  const same =
    before !== undefined && goesOn(before, from) && states(before, candidate)
      ? before
      : begins && states(begins, candidate)
        ? begins
        : undefined;
  if (same !== undefined) {
    const changes = merged(same, candidate);
    if (!changes.ok) return changes;
    const validFrom = Math.min(same.validFrom, from);
    return ok({ row: amend(draft, same, { ...changes.value, validFrom }), created: false });
  }
  const row = begin(draft, owner, candidate);
  link(draft, row.id);
  return ok({
    row: draft.version(row.id, row.version) ?? row,
    created: rows.length === 0,
    // Also after a fact that ended without a successor.
    replaced: rows.length > 0,
    ...(before !== undefined && goesOn(before, from) && { ended: [before] }),
  });
}

/** Releases a memory from quarantine, as if it were remembered now. What it becomes keeps its id as `waitedAs`. */
export function releaseIn(
  draft: Draft,
  owner: Owner,
  quarantined: MemoryRow,
  candidate: NewMemory,
): Result<Ruled> {
  const { identity } = candidate;
  const span = {
    status: "active" as const,
    from: quarantined.validFrom,
    to: quarantined.validTo ?? Infinity,
  };
  const apart = identity.id === null && draft.withText(identity.dedupeKey, span) === null;
  if (apart) {
    const { by } = candidate;
    const { before, candidate: ruled } = againstOpposites(draft, candidate);
    const taken = takenBy(draft, ruled.body.externalId, quarantined.id);
    if (taken !== null) return taken;
    const [first] = before;
    if (first !== undefined && candidate.policy === "reject") return conflict(first);
    endAll(draft, before, validFromOf(ruled.body, draft.time));
    const row = amend(draft, quarantined, {
      status: "active",
      trust: by.trust,
      provenance: provenanceOf(by),
      ...(ruled.body.validTo !== undefined && { validTo: ruled.body.validTo }),
    });
    return ok({ row, created: false, ended: before });
  }
  const by = { ...candidate.by, waitedAs: quarantined.id };
  const ruled = rememberIn(draft, owner, { ...candidate, by });
  if (ruled.ok) draft.forget(quarantined.id);
  return ruled;
}
