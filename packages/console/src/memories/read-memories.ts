import type { Cairn, ListMemoriesQuery, Memory, PastMemory } from "edgecairn";
import { each } from "../parts/each.ts";

/** Memories that a page loads; a search finds the others. */
export const MOST = 10_000;
/** Versions of a memory, and memories that ended, of which a page shows the last. */
const [VERSIONS, ENDED] = [100, 200];

/** The newest that fit. */
export async function newest(
  memory: Cairn,
  user: string,
  filter: ListMemoriesQuery,
  signal: AbortSignal,
): Promise<Memory[]> {
  const all: Memory[] = [];
  for await (const one of memory.memories.all(user, { limit: 1_000, ...filter }, { signal })) {
    all.push(one);
    if (all.length === MOST) break;
  }
  return all;
}

/** A name as Cairn compares it: without regard to case, width and spaces. */
export const nameOf = (name: string): string =>
  name.normalize("NFKC").trim().replaceAll(/\s+/g, " ").toLowerCase();

/** What is known of a subject: each version of its facts, the newest first, and the facts that name it as their object. */
export type Subject = { versions: PastMemory[]; pointing: Memory[]; names: ReadonlySet<string> };

export async function readSubject(
  memory: Cairn,
  user: string,
  subject: string,
  signal: AbortSignal,
): Promise<Subject> {
  const facts = await newest(memory, user, { kind: ["fact"] }, signal);
  const name = nameOf(subject);
  const isOf = (one: Memory) => one.subject !== undefined && nameOf(one.subject) === name;
  const about = facts.filter(isOf);
  const ended = facts.length < MOST ? await endedFacts(memory, user, facts, signal) : [];
  const histories = await each([...about.map(({ id }) => id), ...ended], (id) =>
    memory.memories.history(user, id, { limit: VERSIONS }, { signal }).then(
      ({ items }) => items.filter((one) => isOf(one) && !isSaidAgain(one, items)),
      // Forgotten meanwhile.
      () => [],
    ),
  );
  return {
    versions: histories.flat().toSorted((a, b) => b.validFrom - a.validFrom || b.version - a.version),
    pointing: facts.filter(({ object }) => object !== undefined && nameOf(object) === name),
    names: new Set(facts.flatMap((one) => (one.subject === undefined ? [] : [nameOf(one.subject)]))),
  };
}

/** An end, a tag or a source makes another version that says the same. */
const isSaidAgain = ({ correctedAt, version, text }: PastMemory, all: readonly PastMemory[]): boolean =>
  correctedAt !== undefined && all.some((later) => later.version > version && later.text === text);

/** The ids of facts that no list has any more: their end was set, or an opposite ended them. The changes name them. */
async function endedFacts(
  memory: Cairn,
  user: string,
  living: readonly Memory[],
  signal: AbortSignal,
): Promise<string[]> {
  const ended = new Set<string>();
  for await (const { items } of memory.changes.pages(user, { limit: 1_000 }, { signal }))
    for (const one of items)
      if (one.type === "memory" && one.kind === "fact" && one.status === "active") ended.add(one.id);
  for (const { id } of living) ended.delete(id);
  return [...ended].slice(-ENDED);
}
