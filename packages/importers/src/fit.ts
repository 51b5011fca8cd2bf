// A memory of a source, within the limits of Cairn. Nothing is cut: long texts become several memories, and what no field
// takes stays in the metadata, as far as they reach.
import { createHash } from "node:crypto";
import { byteLength, isWithin, limits } from "../../../src/domain/limits.ts";
import { RememberInBatch } from "../../../src/domain/schema/memory.ts";
import type { z } from "@hono/zod-openapi";
import { type FoundMemory, inShort, type Remark, type SourceName } from "./source.ts";
import { threadIdOf } from "./thread-id.ts";
import { isDeeper } from "./nesting.ts";

export type ImportedMemory = z.infer<typeof RememberInBatch> & { externalId: string };
export type Fitting = { source: SourceName; owner: string; scope: string | undefined; now: number };
type Fitted = { memories: ImportedMemory[]; remarks: Remark[] };

/** The memory in the shape of a request, in parts if its text is too long; none if it cannot be one. */
export function fitMemory(found: FoundMemory, { source, owner, scope, now }: Fitting): Fitted {
  const remarks: Remark[] = [];
  const remark = (type: Remark["type"], reason: string) =>
    void remarks.push({ type, reason, example: inShort(found.id) });
  const skip = (reason: string): Fitted => ({
    memories: [],
    remarks: [{ type: "skipped", reason, example: inShort(found.id) }],
  });
  const text = found.text.replaceAll("\0", "").toWellFormed();
  if (text.trim() === "") return skip("empty texts");
  if (found.expiresAt !== undefined && found.expiresAt <= now) return skip("expired");
  if (text !== found.text) remark("changed", "characters that a text cannot have: removed or replaced");
  const parts = partsOf(text, limits.text);
  if (parts.length > 1) remark("changed", "texts over 32 KiB: several memories");
  const { tags, kept } = tagsOf(found.tags ?? []);
  if (kept.length > 0) remark("changed", "tags beyond 32, or over 64 bytes: in metadata.importedFrom");
  const externalId = externalIdOf(source, found.id);
  const memories: ImportedMemory[] = [];
  for (const [i, part] of parts.entries()) {
    const more = {
      ...found.more,
      ...(externalId !== `${source}:${found.id}` &&
        isWithin(found.id, limits.metadata / 2) && { id: found.id }),
      ...(kept.length > 0 && { tags: kept }),
      ...(parts.length > 1 && { part: i + 1, parts: parts.length }),
    };
    const { metadata, dropped } = metadataOf(found.metadata, more);
    if (dropped) remark("changed", "metadata over 10 KiB or nested too deep: without some fields");
    const memory = RememberInBatch.safeParse({
      ...(found.kind !== undefined && { kind: found.kind }),
      text: part,
      ...(found.title !== undefined && { title: numbered(found.title, ` (${i + 1}/${parts.length})`, i) }),
      ...(tags.length > 0 && { tags }),
      ...(metadata !== undefined && { metadata }),
      ...(scope !== undefined && { scope }),
      externalId: numbered(externalId, `#${i + 1}`, i),
      source: {
        extractor: source,
        ...(found.thread !== undefined && { thread: threadIdOf(owner, source, found.thread) }),
        ...(found.message !== undefined && { message: found.message }),
      },
      // A low score of another system is no reason for a review here.
      ...(found.score !== undefined && { score: found.score, quarantineBelow: 0 }),
      ...timesOf(found),
    });
    if (!memory.success) {
      const [issue] = memory.error.issues;
      return skip(`not a memory: ${(issue?.path ?? []).join(".")} ${issue?.message ?? ""}`);
    }
    memories.push({ ...memory.data, externalId: memory.data.externalId ?? externalId });
  }
  return { memories, remarks };
}

const numbered = (name: string, suffix: string, i: number): string => (i === 0 ? name : `${name}${suffix}`);

function timesOf({
  createdAt,
  updatedAt,
  validFrom,
  validTo,
  expiresAt,
}: FoundMemory): Partial<ImportedMemory> {
  const changedAt = updatedAt !== undefined && updatedAt >= (createdAt ?? updatedAt) ? updatedAt : createdAt;
  return {
    ...(createdAt !== undefined && { createdAt }),
    ...(changedAt !== undefined && { updatedAt: changedAt }),
    ...(validFrom !== undefined && { validFrom }),
    ...(validTo !== undefined && { validTo }),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

/** Room for the number of a part. */
const ID_BYTES = limits.name - 16;

const externalIdOf = (source: SourceName, id: string): string => {
  const externalId = `${source}:${id}`;
  const isFit = isWithin(externalId, ID_BYTES) && externalId.isWellFormed() && !externalId.includes("\0");
  return isFit ? externalId : `${source}:sha256:${createHash("sha256").update(id).digest("base64url")}`;
};

function tagsOf(given: readonly string[]): { tags: string[]; kept: string[] } {
  const all = [...new Set(given)].filter((tag) => tag !== "");
  const tags = all.filter(isTag).slice(0, limits.tags);
  return { tags, kept: all.filter((tag) => !tags.includes(tag)) };
}

const isTag = (tag: string): boolean =>
  isWithin(tag, limits.tag) && tag.isWellFormed() && !tag.includes("\0");

type Metadata = Record<string, unknown>;

function metadataOf(
  own: Metadata = {},
  more: Metadata,
): { metadata: Metadata | undefined; dropped: boolean } {
  // A memory that names an entry takes the entry along when it is forgotten.
  const { cairnEntry, ...rest } = own;
  const imported: Metadata = { ...more, ...(cairnEntry !== undefined && { cairnEntry }) };
  let dropped = false;
  for (const fields of [rest, imported])
    for (const [name, value] of Object.entries(fields))
      // Each lies in the metadata, or in a field of them.
      if (isDeeper(value, limits.metadataDepth - 2)) {
        dropped = true;
        delete fields[name];
      }
  const size = () => byteLength(JSON.stringify({ ...rest, importedFrom: imported }));
  while (size() > limits.metadata) {
    dropped = true;
    const sized = [rest, imported].flatMap((fields) =>
      Object.entries(fields).map(([name, value]) => ({
        fields,
        name,
        bytes: byteLength(JSON.stringify(value) ?? ""),
      })),
    );
    const largest = sized.toSorted((a, b) => b.bytes - a.bytes)[0];
    if (largest === undefined) break;
    delete largest.fields[largest.name];
  }
  const metadata = { ...rest, ...(Object.keys(imported).length > 0 && { importedFrom: imported }) };
  return { metadata: Object.keys(metadata).length > 0 ? metadata : undefined, dropped };
}

/** Ends of a part, best first. */
const CUTS = ["\n\n", "\n", ". ", " "];

/** The text in parts of at most `max` bytes, which make it whole again when they are joined. */
export function partsOf(text: string, max: number): string[] {
  const parts: string[] = [];
  let rest = text;
  while (!isWithin(rest, max)) {
    const room = charactersWithin(rest, max);
    const cut = CUTS.map((one) => ({ one, at: rest.lastIndexOf(one, room - one.length) })).find(
      ({ at }) => at > room / 2,
    );
    const end = cut === undefined ? room : cut.at + cut.one.length;
    parts.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  // White space alone is no text of a memory.
  if (rest.trim() !== "" || parts.length === 0) parts.push(rest);
  return parts;
}

/** The length of the longest beginning of `text` within `max` bytes that ends with a whole character. */
function charactersWithin(text: string, max: number): number {
  let bytes = 0;
  let length = 0;
  for (const character of text) {
    bytes += byteLength(character);
    if (bytes > max) break;
    length += character.length;
  }
  return length;
}
