import type { Draft } from "./draft.ts";
import { normalise } from "./normalise.ts";
import { thingOf } from "./opposites.ts";
import { type NewMemory, contentOf, validFromOf } from "./record.ts";
import type { MemoryRow } from "./table.ts";
import { currentOf, goesOn } from "./versions.ts";

/** The live version that a live candidate would end, replace or add to. */
export function against(draft: Draft, candidate: NewMemory): MemoryRow | null {
  const { body, identity, status } = candidate;
  if (status !== "active") return null;
  if (identity.id === null) return withSameText(draft, candidate);
  const rows = draft.current(identity.id);
  if (identity.how !== "supersede") return rows.at(-1) ?? null;
  const from = validFromOf(body, draft.time);
  const before = rows.findLast((row) => row.validFrom <= from);
  if (before !== undefined && goesOn(before, from)) return before;
  const after = rows.find((row) => row.validFrom > from);
  return after !== undefined && reaches(body, after) && states(after, candidate) ? after : null;
}

/** True if a fact lasts until a stored one begins: if both state the same, the stored one begins earlier. */
export const reaches = ({ validTo }: NewMemory["body"], after: MemoryRow): boolean =>
  validTo === undefined || validTo >= after.validFrom;

/** The stored memory with the same text, for a candidate without an id of its own. */
export function withSameText(draft: Draft, { body, identity, status }: NewMemory): MemoryRow | null {
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

export const isChain = ({ subjectNorm, predicateNorm, keyNorm, attributes }: MemoryRow): boolean =>
  keyNorm !== null || (subjectNorm !== null && predicateNorm !== null && attributes?.cardinality !== "many");

/** True if a version and the candidate state the same. */
export function states(row: MemoryRow, candidate: NewMemory): boolean {
  const { object, text } = contentOf(candidate);
  return row.object === null || object === null
    ? row.object === object && normalise(row.text) === normalise(text)
    : normalise(row.object) === normalise(object);
}
