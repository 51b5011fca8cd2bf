import { limits } from "../limits.ts";
import { normalise } from "../memory/normalise.ts";
import { type AnyMessage, field } from "./message.ts";

/**
 * The names under which a thread's users write, as they are compared. `hasUnnamed`: one writes without a name. `owners`: the names
 * of the memory's owner, as the caller gave them; null if none were given. `byPerson`: a person or a backend wrote for one of them.
 */
export type Speakers = {
  names: readonly string[];
  hasUnnamed: boolean;
  owners: readonly string[] | null;
  byPerson?: true;
};

/** A thread in which nobody has a name. */
export const UNNAMED: Speakers = { names: [], hasUnnamed: true, owners: null };
const NONE: Speakers = { names: [], hasUnnamed: false, owners: null };

/** Names of a thread that are noted. Two of them are enough to tell that there are several. */
const NOTED = 64;
/** The name of somebody whose name is empty, too long or no text: the owner's never is. */
const NOBODY = "";

/** The name of who wrote a message, its `name` or its `speaker`; null without one. */
export function speakerOf(message: AnyMessage): string | null {
  const name = givenName(message);
  // Half of a pair of characters has no bytes: a stored name would be another.
  const text = typeof name === "number" ? String(name) : typeof name === "string" && name.toWellFormed();
  return typeof text === "string" && text.length <= limits.speaker && text.trim() !== "" ? text.trim() : null;
}

/** The name under which a message is shown: a user with a name that is none is somebody, and not the owner. */
export const shownName = (message: AnyMessage): string | null =>
  speakerOf(message) ?? (field(message, "role") === "user" && keyOf(message) === NOBODY ? "somebody" : null);

/** True if the owner of the memory wrote a message: a user without a name, or one with a name of the owner. */
export function isOfOwner(message: AnyMessage, { names, hasUnnamed, owners }: Speakers): boolean {
  const key = keyOf(message);
  if (field(message, "role") !== "user" || key === NOBODY) return false;
  if (key === null) return true;
  if (owners !== null) return owners.some((owner) => normalise(owner) === key);
  return !hasUnnamed && names.length === 1 && names[0] === key;
}

/** The names that are the owner's in a thread. */
export function ownerNames(speakers: Speakers): readonly string[] {
  const { names, owners } = speakers;
  return owners ?? names.filter((name) => isOfOwner({ role: "user", name }, speakers));
}

/**
 * The speakers of a thread with those of further messages; the same object if there is none new. `isByPerson`: a person or a backend
 * writes them. What others write changes nothing once one of these has written: a tool could silence the owner with a second name.
 */
export function withSpeakers(
  known: Speakers | null,
  messages: readonly AnyMessage[],
  isByPerson: boolean,
): Speakers | null {
  if (!isByPerson && known?.byPerson === true) return known;
  let speakers = known;
  for (const message of messages) {
    if (field(message, "role") !== "user") continue;
    const key = keyOf(message);
    const { names, hasUnnamed, byPerson } = speakers ?? NONE;
    const isNoted = key === null ? hasUnnamed : names.includes(key) || names.length >= NOTED;
    if (isNoted && (byPerson === true || !isByPerson)) continue;
    speakers = {
      ...(speakers ?? NONE),
      ...(!isNoted && (key === null ? { hasUnnamed: true } : { names: [...names, key] })),
      ...(isByPerson && { byPerson: true }),
    };
  }
  return speakers;
}

/** True if one of the names is of a user of the thread, or may be: not all names of a thread with very many are noted. */
export const areSpeakers = (owners: readonly string[], { names }: Speakers): boolean =>
  names.length >= NOTED || owners.some((owner) => names.includes(normalise(owner)));

/** True if the same names are the owner's. */
export const sameOwners = (a: readonly string[] | null, b: readonly string[] | null): boolean =>
  namesOf(a) === namesOf(b);

const namesOf = (owners: readonly string[] | null): string =>
  JSON.stringify(owners && [...new Set(owners.map(normalise))].toSorted());

/** The name as it is compared: without case and width; null without one. */
function keyOf(message: AnyMessage): string | null {
  if (givenName(message) === undefined) return null;
  const speaker = speakerOf(message);
  return speaker === null ? NOBODY : normalise(speaker);
}

/** What the message has as a name: not null, which stands for none. */
const givenName = (message: AnyMessage): unknown =>
  field(message, "name") ?? field(message, "speaker") ?? undefined;
