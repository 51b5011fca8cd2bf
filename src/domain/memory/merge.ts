import { type Failure, fieldOverLimit, ok, type Result } from "../errors.ts";
import { byteLength, limits } from "../limits.ts";
import { textOf, tripleText } from "./identity.ts";
import { normalise } from "./normalise.ts";
import { changesOf, type NewMemory, type Content, contentOf, withSources } from "./record.ts";
import type { MemoryRow } from "./table.ts";
import { outranks } from "./trust.ts";
import { changesAnything } from "./versions.ts";

/** The full content of the candidate. */
export function replacement(row: MemoryRow, candidate: NewMemory): Partial<MemoryRow> {
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
export function merged(row: MemoryRow, candidate: NewMemory): Result<Partial<Content>> {
  const { body } = candidate;
  const tags = [...new Set([...row.tags, ...(body.tags ?? [])])];
  const metadata =
    row.metadata === null && body.metadata === undefined ? null : { ...row.metadata, ...body.metadata };
  if (tags.length > limits.tags) return overLimitTogether("tags", `${limits.tags} tags`);
  if (metadata !== null && byteLength(JSON.stringify(metadata)) > limits.metadata)
    return overLimitTogether("metadata", `${limits.metadata.toLocaleString("en-US")} bytes of JSON`);
  const fresh = body.text ?? (row.text === tripleText(row) ? textOf(body) : row.text);
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
  const outcome = corrected
    ? { ...changes, text: row.text, dedupeKey: row.dedupeKey, object: row.object }
    : changes;
  return ok({ ...outcome, ...addedBy(candidate, row, outcome) });
}

/** The stored spelling if only capitals, spaces or width differ: what prompts showed before keeps its bytes. */
const firstSpelling = <T extends string | null>(stored: T, fresh: T): T =>
  stored !== null && fresh !== null && normalise(stored) === normalise(fresh) ? stored : fresh;

const overLimitTogether = (path: string, limit: string): Failure =>
  fieldOverLimit(path, `is more than ${limit} together with what the memory has already`);
