import { fail, type Failure, fieldOverLimit, ok, type Result } from "../errors.ts";
import { byteLength, limits } from "../limits.ts";
import { refuseForeignFields } from "../schema/memory-fields.ts";
import type { PatchMemoryBody, RememberBody } from "../schema/memory.ts";
import type { Draft } from "./draft.ts";
import { textOf, tripleText } from "./identity.ts";
import { normalise } from "./normalise.ts";
import { oppositesOf, thingOf } from "./opposites.ts";
import {
  type NewMemory,
  changesOf,
  type Content,
  contentOf,
  newRow,
  type Owner,
  provenanceOf,
  validFromOf,
  withSources,
  type Writer,
} from "./record.ts";
import type { MemoryRow } from "./table.ts";
import { outranks, trustOfRole } from "./trust.ts";

/**
 * The resulting version. `created`: the memory is new. `replaced`: it says this in place of something else. `ended`: the versions of
 * facts that it ended, as they were.
 */
type Ruled = { row: MemoryRow; created: boolean; replaced?: boolean; ended?: readonly MemoryRow[] };

/** The rule that holds for a fact. */
type Ruling = Pick<NewMemory, "policy" | "opposites">;

/** `statedAt`: the time at which the owner of the memory states it, in the message that it cites; null if they do not. */
type Statement = NewMemory & { statedAt?: () => number | null };

/** Remembers one memory: adds a new one, or changes a stored one. */
export function rememberIn(draft: Draft, owner: Owner, given: Statement): Result<Ruled> {
  const { before: opposites, candidate } = againstOpposites(draft, given);
  const { body, identity } = candidate;
  if (isOver(body, draft.time))
    return fail("invalid_request", { details: [{ path: "expiresAt", message: NOT_AHEAD }] });
  const externalId = candidate.status === "active" ? body.externalId : undefined;
  const taken = takenBy(draft, externalId, identity.id);
  if (taken !== null) return taken;
  const contest = contested(draft, owner, { given, candidate, opposites });
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
    given,
    candidate,
    opposites,
  }: { given: Statement; candidate: NewMemory; opposites: readonly MemoryRow[] },
): { ruled: Result<Ruled> } | { settled: NewMemory } {
  const held = against(draft, candidate);
  const isContrary = held !== null && !states(held, candidate);
  const contrary = isContrary ? held : opposites[0];
  if (contrary !== undefined && candidate.policy === "reject") return { ruled: conflict(contrary) };
  if (isContrary && candidate.replaces === false)
    return { ruled: wait(draft, owner, candidate, { held, reason: REPLACES }) };
  const stronger = [...(held === null ? [] : [held]), ...opposites].filter(
    (row) => candidate.policy !== "lastWriter" && outranks(row.trust, candidate.by.trust),
  );
  const [guarded] = stronger;
  if (guarded === undefined) return { settled: candidate };
  if (guarded === held && !isContrary) {
    const provenance = withSources(held, candidate, held.provenance ?? {});
    return { ruled: ok({ row: amend(draft, held, { provenance }), created: false }) };
  }
  if (!isStatedSince(given, stronger))
    return { ruled: wait(draft, owner, candidate, { held: guarded, reason: CONFLICT }) };
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

/** The failure where another memory has this externalId; null otherwise. */
function takenBy(draft: Draft, externalId: string | undefined, id: string | null): Failure | null {
  const other = externalId === undefined ? null : draft.withExternalId(externalId);
  if (other === null || other.id === id) return null;
  return fail("external_id_taken", {
    details: [{ path: "externalId", message: `is the id of ${other.id}` }],
  });
}

const conflict = ({ id }: MemoryRow): Failure =>
  fail("fact_conflict", { details: [{ path: "object", message: `contradicts the memory ${id}` }] });

const NOT_AHEAD = "is not in the future";

/**
 * The live facts that say the opposite of a candidate when it begins to be true. It ends them; and it ends itself when the next such
 * fact begins, unless it ends before.
 */
function againstOpposites(draft: Draft, candidate: NewMemory): { before: MemoryRow[]; candidate: NewMemory } {
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
function oppositesAt(
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

/**
 * Ends the opposites of a fact that a change makes true, as a write of it now would; and the fact when the next one begins. Unlike a
 * write it fails where an opposite has a higher trust: the memory is live, and its words do not wait.
 */
function changeFact(
  draft: Draft,
  current: MemoryRow,
  { changes, by, ruling }: { changes: Partial<MemoryRow>; by: Writer; ruling: Ruling },
): Result<Ruled> {
  const { id, subjectNorm, predicate, object, scope, ...after } = { ...current, ...changes };
  const from = Math.max(after.validFrom, draft.time);
  const isLive = after.status === "active" && goesOn(after, from) && (after.supersededAt ?? Infinity) > from;
  const saysMore = object !== current.object || after.validTo !== current.validTo;
  const isClaim = subjectNorm !== null && predicate !== null && object !== null;
  const { before, next } =
    isLive && saysMore && isClaim
      ? oppositesAt(draft, { id, subjectNorm, predicate, object, scope }, { ...ruling, from })
      : { before: [], next: Infinity };
  const [first] = before;
  if (first !== undefined && ruling.policy === "reject") return conflict(first);
  const guarded = before.find((row) => outranks(row.trust, by.trust));
  if (guarded !== undefined && ruling.policy !== "lastWriter")
    return fail("trust_too_low", {
      details: [{ path: "object", message: `contradicts the memory ${guarded.id}` }],
    });
  endAll(draft, before, from);
  const ends = next < (after.validTo ?? Infinity) ? { validTo: next } : {};
  return ok({ row: amend(draft, current, { ...changes, ...ends }), created: false, ended: before });
}

/** Ends facts. Their history stays, and they can be restored. */
function endAll(draft: Draft, rows: readonly MemoryRow[], at: number): void {
  for (const row of rows) amend(draft, row, { validTo: at, updatedAt: row.updatedAt });
}

/** The live version that a live candidate would end, replace or add to. */
function against(draft: Draft, candidate: NewMemory): MemoryRow | null {
  const { body, identity, status } = candidate;
  if (status !== "active") return null;
  if (identity.id === null) return withSameText(draft, candidate);
  const held = draft.held(identity.id);
  if (identity.how !== "supersede") return held.at(-1) ?? null;
  const from = validFromOf(body, draft.time);
  const before = held.findLast((row) => row.validFrom <= from);
  if (before !== undefined && goesOn(before, from)) return before;
  const after = held.find((row) => row.validFrom > from);
  return after !== undefined && reaches(body, after) && states(after, candidate) ? after : null;
}

/** True if a fact lasts until a stored one begins: if both state the same, the stored one begins earlier. */
const reaches = ({ validTo }: NewMemory["body"], after: MemoryRow): boolean =>
  validTo === undefined || validTo >= after.validFrom;

/** True if a version ends after this time, or not at all, by what its caller said. */
const goesOn = ({ validTo }: Pick<MemoryRow, "validTo">, from: number): boolean =>
  validTo === null || validTo > from;

/** Quarantines a candidate that may not change a stored memory. */
function wait(
  draft: Draft,
  owner: Owner,
  candidate: NewMemory,
  { held, reason }: { held: MemoryRow; reason: string },
): Result<Ruled> {
  const { by, inQuarantine } = candidate;
  if (inQuarantine === undefined) throw new Error("a writer that is outranked has an identity in quarantine");
  const reasons = [...(by.reasons ?? []), reason];
  return addOrReplace(draft, owner, {
    ...candidate,
    identity: inQuarantine,
    status: "quarantined",
    by: { ...by, reasons, conflictsWith: held.id },
  });
}

/** The reason of a memory that waits in quarantine for a decision about a memory of a higher trust. */
const CONFLICT = "conflicts_with_higher_trust";
/** The reason of an extracted procedure that would change a stored one. */
const REPLACES = "replaces_procedure";

/** Usually seconds in place of milliseconds. The memory would expire at once, with its history. */
const isOver = ({ expiresAt }: RememberBody | PatchMemoryBody, time: number): boolean =>
  typeof expiresAt === "number" && expiresAt <= time;

function addOrReplace(draft: Draft, owner: Owner, candidate: NewMemory): Result<Ruled> {
  const { body, identity } = candidate;
  const from = validFromOf(body, draft.time);
  const byId = identity.id === null ? undefined : draft.held(identity.id).at(-1);
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

/** The stored memory with the same text, for a candidate without an id of its own. */
function withSameText(draft: Draft, { body, identity, status }: NewMemory): MemoryRow | null {
  if (identity.id !== null || body.dedupe === "none") return null;
  const from = validFromOf(body, draft.time);
  const to = body.validTo ?? Infinity;
  return draft.withText(identity.dedupeKey, { status, from, to }) ?? ofOne(draft, { body, status, from, to });
}

/** The live fact of the same triple that was stored while its predicate had one object: its text identifies it, not its triple. */
function ofOne(
  draft: Draft,
  { body, status, from, to }: Pick<NewMemory, "body" | "status"> & { from: number; to: number },
): MemoryRow | null {
  const { subject, predicate, object, scope = null, cardinality } = body;
  if (cardinality !== "many" || subject === undefined || predicate === undefined || object === undefined)
    return null;
  const isSame = (other: string): boolean => normalise(other) === normalise(predicate);
  const same = draft.ofSubject(normalise(subject), {
    thing: thingOf(object),
    has: (other, otherObject) => isSame(other) && normalise(otherObject) === normalise(object),
  });
  const isThen = (row: MemoryRow): boolean =>
    row.validFrom < to && goesOn(row, from) && (row.supersededAt ?? Infinity) > from;
  return (
    same.find((row) => isChain(row) && row.scope === scope && row.status === status && isThen(row)) ?? null
  );
}

/** The version that a candidate supersedes, replaces or adds to. Conditions compare with it. */
export const targetOf = (draft: Draft, candidate: NewMemory): MemoryRow | null =>
  candidate.identity.id === null ? withSameText(draft, candidate) : currentOf(draft, candidate.identity.id);

const isChain = ({ subjectNorm, predicateNorm, keyNorm, attributes }: MemoryRow): boolean =>
  keyNorm !== null || (subjectNorm !== null && predicateNorm !== null && attributes?.cardinality !== "many");

const neverTrue = ({ validFrom, validTo }: MemoryRow): boolean => validTo !== null && validTo <= validFrom;

/**
 * Facts of which one is true at a time. The same statement again adds to the stored fact. Another statement is true from
 * its `validFrom` until the next stored fact, and ends the fact before it.
 */
function supersede(draft: Draft, owner: Owner, candidate: NewMemory): Result<Ruled> {
  const { body, identity } = candidate;
  const from = validFromOf(body, draft.time);
  const held = draft.held(identity.id ?? "");
  const before = held.findLast((row) => row.validFrom <= from);
  const after = held.find((row) => row.validFrom > from);
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
    created: held.length === 0,
    // Also after a fact that ended without a successor.
    replaced: held.length > 0,
    ...(before !== undefined && goesOn(before, from) && { ended: [before] }),
  });
}

/** True if a version and the candidate state the same. */
export function states(row: MemoryRow, candidate: NewMemory): boolean {
  const { object, text } = contentOf(candidate);
  return row.object === null || object === null
    ? row.object === object && normalise(row.text) === normalise(text)
    : normalise(row.object) === normalise(object);
}

/** The text of a memory after a change. */
export function patchedText(current: MemoryRow, body: PatchMemoryBody): string {
  if (body.text !== undefined) return body.text;
  // A text made of the triple follows the triple. A sentence of a message states the former object.
  const isSentence =
    current.subject !== null && current.source?.message !== undefined && body.object !== null;
  return (saysItsTriple(current) || isSentence) && body.object !== undefined
    ? wordsOf({ ...current, object: body.object })
    : current.text;
}

const saysItsTriple = (row: MemoryRow): boolean =>
  row.subject !== null && row.predicate !== null && row.text === wordsOf(row);

/** Changes a memory. The former version stays in the history. `dedupeKey`: of the text after the change. */
export function patchIn(
  draft: Draft,
  current: MemoryRow,
  { body, dedupeKey, by, ruling }: { body: PatchMemoryBody; dedupeKey: string; by: Writer; ruling: Ruling },
): Result<Ruled> {
  if (outranks(current.trust, by.trust)) return fail("trust_too_low");
  const refusals: [path: string, message: string][] = [];
  refuseForeignFields(current.kind, body, (path, message) => void refusals.push([path, message]));
  const changes: Partial<MemoryRow> = {
    ...changesOf(body, current),
    ...(body.tags !== undefined && { tags: [...new Set(body.tags)] }),
    ...(body.metadata !== undefined && { metadata: body.metadata }),
    text: patchedText(current, body),
    dedupeKey,
  };
  if (body.object !== undefined && (current.subject === null || current.predicate === null))
    refusals.push(["object", "goes with a subject and a predicate"]);
  if (body.object === null && body.text === undefined && current.object !== null && saysItsTriple(current))
    refusals.push(["object", "is what the memory says: say it in a text, or forget the memory"]);
  if (changes.validTo !== undefined && changes.validTo !== null && changes.validTo <= current.validFrom)
    refusals.push(["validTo", "is not after validFrom"]);
  if (isOver(body, draft.time)) refusals.push(["expiresAt", NOT_AHEAD]);
  if (refusals.length > 0)
    return fail("invalid_request", {
      details: refusals.map(([path, message]) => ({ path, message })),
    });
  const signed = { ...changes, ...signedBy(by, current, changes) };
  return changeFact(draft, current, { changes: signed, by, ruling });
}

/** The trust and the writer of a memory after a change. A change of nothing leaves both. */
function signedBy(by: Writer, row: MemoryRow, changes: Partial<MemoryRow>): Partial<MemoryRow> {
  if (!changesAnything(row, changes)) return {};
  const { writtenBy: _former, ...provenance } = row.provenance ?? {};
  return { trust: by.trust, provenance: provenanceOf({}, { ...provenance, ...by }) };
}

const changesAnything = (row: MemoryRow, changes: Partial<MemoryRow>): boolean =>
  Object.entries(changes).some(
    // The fields are those of the row.
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(row[field as keyof MemoryRow]),
  );

const wordsOf = ({ subject, predicate, object }: MemoryRow): string =>
  tripleText({
    ...(subject !== null && { subject }),
    ...(predicate !== null && { predicate }),
    ...(object !== null && { object }),
  });

/** Ends the wait of a quarantined memory, which is then deleted in a day. */
export const expireIn = (draft: Draft, row: MemoryRow): MemoryRow =>
  amend(draft, row, { status: "expired", updatedAt: row.updatedAt });

/**
 * Restores the content of a version. The memory keeps its identity and status. It also keeps its end or expiry where
 * that of the version is over, so that the restored memory is alive.
 */
export function restoreIn(
  draft: Draft,
  current: MemoryRow,
  { past, by, ruling }: { past: MemoryRow; by: Writer; ruling: Ruling },
): Result<Ruled> {
  if (outranks(current.trust, by.trust)) return fail("trust_too_low");
  const {
    version: _version,
    createdAt: _created,
    updatedAt: _updated,
    validFrom: _from,
    recordedAt: _recorded,
    correctedAt: _corrected,
    supersededAt: _superseded,
    supersededBy: _by,
    status: _status,
    externalId: _externalId,
    trust: _trust,
    ...said
  } = past;
  const changes = {
    ...said,
    ...(neverTrue({ ...current, validTo: past.validTo }) && { validTo: current.validTo }),
    ...(past.expiresAt !== null && past.expiresAt < draft.time && { expiresAt: current.expiresAt }),
  };
  return changeFact(draft, current, { changes: { ...changes, trust: by.trust }, by, ruling });
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
      provenance: provenanceOf({}, by),
      ...(ruled.body.validTo !== undefined && { validTo: ruled.body.validTo }),
    });
    return ok({ row, created: false, ended: before });
  }
  const by = { ...candidate.by, waitedAs: quarantined.id };
  const ruled = rememberIn(draft, owner, { ...candidate, by });
  if (ruled.ok) draft.forget(quarantined.id);
  return ruled;
}

/** The version of a memory that is true now; else the last one. */
export function currentOf(draft: Draft, id: string): MemoryRow | null {
  const held = draft.held(id);
  return held.findLast(({ validFrom }) => validFrom <= draft.time) ?? held.at(-1) ?? null;
}

function begin(draft: Draft, owner: Owner, candidate: NewMemory): MemoryRow {
  const { id } = candidate.identity;
  const held = id === null ? [] : draft.held(id);
  // The rows of an expired memory may still exist.
  if (id !== null && held.length === 0) draft.forget(id);
  const fresh = newRow(owner, candidate, { id, version: draft.nextVersion(), time: draft.time });
  // A changed fact keeps its place in lists, so that a reader of pages misses none.
  const createdAt = held.reduce((first, row) => Math.min(first, row.createdAt), fresh.createdAt);
  const row = { ...fresh, createdAt };
  draft.put(row);
  return row;
}

/** Replaces a version by a new one, if anything changes. A repeat changes nothing, not even `updatedAt`, unless it gives one. */
function amend(draft: Draft, row: MemoryRow, changes: Partial<MemoryRow>): MemoryRow {
  const updatedAt = Math.max(changes.updatedAt ?? draft.time, row.updatedAt);
  if (!changesAnything(row, changes)) return row;
  const fresh = {
    ...row,
    ...changes,
    version: draft.nextVersion(),
    updatedAt,
    recordedAt: draft.time,
    supersededAt: null,
    supersededBy: null,
  };
  draft.put({ ...row, correctedAt: draft.time });
  draft.put(fresh);
  link(draft, row.id);
  return draft.version(row.id, fresh.version) ?? fresh;
}

/** Sets in each version which one is true after it. */
function link(draft: Draft, id: string): void {
  const held = draft.held(id);
  for (const [i, row] of held.entries()) {
    const [supersededAt, supersededBy] = [held[i + 1]?.validFrom ?? null, held[i + 1]?.version ?? null];
    if (row.supersededAt !== supersededAt || row.supersededBy !== supersededBy)
      draft.put({ ...row, supersededAt, supersededBy });
  }
}

/** The full content of the candidate. */
function replacement(row: MemoryRow, candidate: NewMemory): Partial<MemoryRow> {
  const { createdAt, updatedAt, validFrom } = candidate.body;
  const { trust: _trust, provenance: _provenance, ...content } = contentOf(candidate);
  const changes = {
    ...content,
    createdAt: createdAt ?? row.createdAt,
    validFrom: validFrom ?? row.validFrom,
    ...(updatedAt !== undefined && { updatedAt }),
  };
  return { ...changes, ...addedBy(candidate, row, changes) };
}

/** The trust and the provenance of a memory that a candidate is added to. It keeps its writer unless more than its source changes. */
function addedBy(
  candidate: NewMemory,
  row: MemoryRow,
  { source: _source, ...changes }: Partial<MemoryRow>,
): Pick<MemoryRow, "trust" | "provenance"> {
  const { by } = candidate;
  const isChange = changesAnything(row, changes);
  return {
    trust: isChange || outranks(by.trust, row.trust) ? by.trust : row.trust,
    provenance: withSources(row, candidate, isChange ? by : (row.provenance ?? {})),
  };
}

/** The stored memory and the candidate in one: tags and metadata add up, other fields take the new value. */
function merged(row: MemoryRow, candidate: NewMemory): Result<Partial<Content>> {
  const { body } = candidate;
  const tags = [...new Set([...row.tags, ...(body.tags ?? [])])];
  const metadata =
    row.metadata === null && body.metadata === undefined ? null : { ...row.metadata, ...body.metadata };
  if (tags.length > limits.tags) return overLimitTogether("tags", `${limits.tags} tags`);
  if (metadata !== null && byteLength(JSON.stringify(metadata)) > limits.metadata)
    return overLimitTogether("metadata", `${limits.metadata.toLocaleString("en-US")} bytes of JSON`);
  const fresh = body.text ?? (row.text === wordsOf(row) ? textOf(body) : row.text);
  const text = firstSpelling(row.text, fresh);
  // An unchanged text keeps its key.
  const dedupeKey = text === row.text ? row.dedupeKey : candidate.identity.dedupeKey;
  const externalId = body.externalId ?? row.externalId;
  const object = firstSpelling(row.object, body.object ?? row.object);
  // Found again, it waits again.
  const status = row.status === "expired" ? candidate.status : row.status;
  const changes = { ...changesOf(body, row), status, object, text, dedupeKey, externalId, tags, metadata };
  // A repeated finding does not undo a correction made in review.
  const corrected = row.status !== "active" && row.dedupeKey !== candidate.identity.dedupeKey;
  const kept = corrected
    ? { ...changes, text: row.text, dedupeKey: row.dedupeKey, object: row.object }
    : changes;
  return ok({ ...kept, ...addedBy(candidate, row, kept) });
}

/** The stored spelling if only capitals, spaces or width differ: what prompts showed before keeps its bytes. */
const firstSpelling = <T extends string | null>(stored: T, fresh: T): T =>
  stored !== null && fresh !== null && normalise(stored) === normalise(fresh) ? stored : fresh;

const overLimitTogether = (path: string, limit: string): Failure =>
  fieldOverLimit(path, `is more than ${limit} together with what the memory has already`);
