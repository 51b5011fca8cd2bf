import { fail, ok, type Result } from "../errors.ts";
import { refuseForeignFields } from "../schema/memory-fields.ts";
import type { PatchMemoryBody } from "../schema/memory.ts";
import { type Ruled, type Ruling, conflict, oppositesAt } from "./contradictions.ts";
import type { Draft } from "./draft.ts";
import { tripleText } from "./identity.ts";
import { changesOf, provenanceOf, type Writer } from "./record.ts";
import type { MemoryRow } from "./table.ts";
import { outranks } from "./trust.ts";
import { amend, goesOn, neverTrue, changesAnything, endAll, NOT_AHEAD, isOver } from "./versions.ts";

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

/** The text of a memory after a change. */
export function patchedText(current: MemoryRow, body: PatchMemoryBody): string {
  if (body.text !== undefined) return body.text;
  // A text made of the triple follows the triple. A sentence of a message states the former object.
  const isSentence =
    current.subject !== null && current.source?.message !== undefined && body.object !== null;
  return (saysItsTriple(current) || isSentence) && body.object !== undefined
    ? tripleText({ ...current, object: body.object })
    : current.text;
}

const saysItsTriple = (row: MemoryRow): boolean =>
  row.subject !== null && row.predicate !== null && row.text === tripleText(row);

/** Changes a memory. The former version stays in the history. `dedupeKey`: of the text after the change. */
export function patchIn(
  draft: Draft,
  current: MemoryRow,
  { body, dedupeKey, by, ruling }: { body: PatchMemoryBody; dedupeKey: string; by: Writer; ruling: Ruling },
): Result<Ruled> {
  if (outranks(current.trust, by.trust)) return fail("trust_too_low");
  const refusals: { path: string; message: string }[] = [];
  const refuse = (path: string, message: string) => void refusals.push({ path, message });
  refuseForeignFields(current.kind, body, refuse);
  const changes: Partial<MemoryRow> = {
    ...changesOf(body, current),
    ...(body.tags !== undefined && { tags: [...new Set(body.tags)] }),
    ...(body.metadata !== undefined && { metadata: body.metadata }),
    text: patchedText(current, body),
    dedupeKey,
  };
  if (body.object !== undefined && (current.subject === null || current.predicate === null))
    refuse("object", "goes with a subject and a predicate");
  if (body.object === null && body.text === undefined && current.object !== null && saysItsTriple(current))
    refuse("object", "is what the memory says: say it in a text, or forget the memory");
  if (changes.validTo !== undefined && changes.validTo !== null && changes.validTo <= current.validFrom)
    refuse("validTo", "is not after validFrom");
  if (isOver(body, draft.time)) refuse("expiresAt", NOT_AHEAD);
  if (refusals.length > 0) return fail("invalid_request", { details: refusals });
  const signed = { ...changes, ...signedBy(by, current, changes) };
  return changeFact(draft, current, { changes: signed, by, ruling });
}

/** The trust and the writer of a memory after a change. A change of nothing leaves both. */
function signedBy(by: Writer, row: MemoryRow, changes: Partial<MemoryRow>): Partial<MemoryRow> {
  if (!changesAnything(row, changes)) return {};
  const { writtenBy: _former, ...provenance } = row.provenance ?? {};
  return { trust: by.trust, provenance: provenanceOf({ ...provenance, ...by }) };
}

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
    ...content
  } = past;
  const changes = {
    ...content,
    ...(neverTrue({ ...current, validTo: past.validTo }) && { validTo: current.validTo }),
    ...(past.expiresAt !== null && past.expiresAt < draft.time && { expiresAt: current.expiresAt }),
  };
  return changeFact(draft, current, { changes: { ...changes, trust: by.trust }, by, ruling });
}
