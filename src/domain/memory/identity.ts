import { type UserHash } from "../ids.ts";
import type { RememberBody } from "../schema/memory.ts";
import { normalise } from "./normalise.ts";
import { hash16 } from "../hash.ts";

/**
 * The identity of a memory. `id` is null if only the text identifies it.
 * - `supersede`: a fact with subject and predicate, or with a key. The new fact ends the old one.
 *   Not a fact of a predicate with many: its triple identifies it, as the text does other memories.
 * - `replace`: a procedure's title, or the caller's own id. The new memory replaces the old one.
 * - `merge`: the same text. Tags and metadata add up.
 */
export type Identity = { id: string | null; how: "supersede" | "replace" | "merge"; dedupeKey: string };

/** The fields that decide on the identity. */
type IdentifyingFields = Omit<RememberBody, "status"> & { text: string };

/** The text of a memory; a fact without one has the words of its triple. */
export const textOf = (body: RememberBody): string => body.text ?? tripleText(body);

type Triple = { subject?: string | null; predicate?: string | null; object?: string | null };

/** The words of a triple, with single spaces. */
export const tripleText = ({ subject = null, predicate = null, object = null }: Triple): string =>
  [subject, predicate, object]
    .filter((part) => part !== null)
    .join(" ")
    .replace(/\s+/gu, " ")
    .trim();

/** Memories of different scopes are different memories. */
export async function identityOf(
  owner: UserHash,
  fields: IdentifyingFields,
  quarantined: boolean,
): Promise<Identity> {
  const dedupeKey = await dedupeKeyOf(fields);
  const name = nameOf(fields);
  // A quarantined memory has an id apart from the memory that it may replace.
  if (quarantined) {
    const id = await hashOf(owner, "quarantined", name?.parts ?? null, dedupeKey);
    return { id, how: "merge", dedupeKey };
  }
  if (name === null) return { id: null, how: "merge", dedupeKey };
  return { id: await hashOf(owner, ...name.parts), how: name.how, dedupeKey };
}

/** The hash of kind, scope and text; of an incomplete triple, its subject or predicate too; of many, the triple. */
function dedupeKeyOf(fields: IdentifyingFields): Promise<string> {
  const { kind = "fact", scope, subject, predicate, object, text } = fields;
  if (isOfMany(fields)) {
    const triple = [subject, predicate, object ?? text].map((one) => normalise(one ?? ""));
    return hashOf(kind, scope ?? null, ...triple);
  }
  // The same text about another subject is another fact. A whole triple has an id of its own.
  const triple = subject !== undefined && predicate !== undefined;
  const about = [subject, predicate].map((name) => (name === undefined ? null : normalise(name)));
  const plain = triple || about.every((name) => name === null);
  return hashOf(kind, scope ?? null, normalise(text), ...(plain ? [] : about));
}

const isOfMany = ({ subject, predicate, cardinality }: IdentifyingFields): boolean =>
  cardinality === "many" && subject !== undefined && predicate !== undefined;

function nameOf(fields: IdentifyingFields): { parts: (string | null)[]; how: Identity["how"] } | null {
  const { kind = "fact", scope, subject, predicate, key, title, externalId } = fields;
  if (isOfMany(fields)) return null;
  if (kind === "fact" && subject !== undefined && predicate !== undefined)
    return { parts: ["triple", scope ?? null, normalise(subject), normalise(predicate)], how: "supersede" };
  if (kind === "fact" && key !== undefined)
    return { parts: ["key", scope ?? null, normalise(key)], how: "supersede" };
  if (title !== undefined) return { parts: ["title", scope ?? null, title], how: "replace" };
  return externalId === undefined ? null : { parts: ["external", externalId], how: "replace" };
}

const hashOf = (...parts: readonly unknown[]): Promise<string> => hash16(JSON.stringify(parts));
