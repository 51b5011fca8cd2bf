import { type UserHash } from "../ids.ts";
import type { RememberBody } from "../schema/memory.ts";
import { normalise } from "./normalise.ts";
import { hash16 } from "../hash.ts";

/**
 * What makes a memory the same one as another. `id` follows from what names it; null if only its text does.
 * - `supersede`: a fact of subject and predicate, or of a topic key: the new one is true from now on, the old one was.
 * - `replace`: a procedure's title, or the caller's own id: the new one stands in the place of the old one.
 * - `merge`: the same text: tags and metadata add up.
 */
export type Identity = { id: string | null; how: "supersede" | "replace" | "merge"; dedupeKey: string };

/** The part of a memory that its identity follows from. */
export type Named = Pick<
  RememberBody,
  "kind" | "scope" | "subject" | "predicate" | "key" | "title" | "externalId" | "dedupe" | "object"
> & { text: string };

/** A fact's triple is its text where there is none. */
export const textOf = ({
  text,
  subject,
  predicate,
  object,
}: Omit<Named, "text"> & { text?: string | undefined }): string =>
  text ?? tripleText({ subject, predicate, object });

/** The words of a triple as a text; spaces that do not tell facts apart are not in it. */
export const tripleText = (triple: Pick<Named, "subject" | "predicate" | "object">): string =>
  [triple.subject, triple.predicate, triple.object]
    .filter((part) => part !== undefined)
    .join(" ")
    .replace(/\s+/gu, " ")
    .trim();

/** A memory of another scope is another memory, by whatever it is known. */
export async function identityOf(owner: UserHash, named: Named, quarantined: boolean): Promise<Identity> {
  const dedupeKey = await dedupeKeyOf(named);
  const name = nameOf(named);
  // What waits for its review is apart from what it may take the place of, and is there once.
  if (quarantined)
    return {
      id: await hashOf(owner, "quarantined", name?.parts ?? null, dedupeKey),
      how: "merge",
      dedupeKey,
    };
  if (name === null) return { id: null, how: "merge", dedupeKey };
  return { id: await hashOf(owner, ...name.parts), how: name.how, dedupeKey };
}

/** The hash of all that makes a text the same; of a text alone as it always was, since D1 has such hashes. */
function dedupeKeyOf({ kind = "fact", scope, subject, predicate, text }: Named): Promise<string> {
  // A triple names the fact itself. What is said about another subject is another fact.
  const triple = subject !== undefined && predicate !== undefined;
  const about = triple
    ? []
    : [subject, predicate].map((name) => (name === undefined ? null : normalise(name)));
  if (scope === undefined && about.every((name) => name === null))
    return hash16(`${kind}\n${normalise(text)}`);
  return hashOf(kind, scope ?? null, normalise(text), ...about);
}

function nameOf({
  kind = "fact",
  scope,
  subject,
  predicate,
  key,
  title,
  externalId,
}: Named): { parts: (string | null)[]; how: Identity["how"] } | null {
  if (kind === "fact" && subject !== undefined && predicate !== undefined)
    return { parts: ["triple", scope ?? null, normalise(subject), normalise(predicate)], how: "supersede" };
  if (kind === "fact" && key !== undefined)
    return { parts: ["key", scope ?? null, normalise(key)], how: "supersede" };
  if (title !== undefined) return { parts: ["title", scope ?? null, title], how: "replace" };
  return externalId === undefined ? null : { parts: ["external", externalId], how: "replace" };
}

const hashOf = (...parts: readonly unknown[]): Promise<string> => hash16(JSON.stringify(parts));
