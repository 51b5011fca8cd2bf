import type { Triples } from "../../../src/domain/memory/draft.ts";
import { thingOf } from "../../../src/domain/memory/opposites.ts";
import { type PredicateWords, wordsOf } from "../../../src/domain/memory/predicate-words.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { MemoryTable } from "./memory-table.ts";

/** Ids by the object of a triple, as objects are compared. */
type ByThing = Map<string, Set<string>>;

/** The triples of one write by subject, predicate and object: the stored ones, each read once, and the changed ones. */
export class TripleIndex {
  readonly #table: Pick<MemoryTable, "predicatesOf" | "objectsOf">;
  /** Null until the words of a stored predicate are read. */
  readonly #stored = new Map<string, Map<string, ByThing | null>>();
  readonly #changed = new Map<string, Map<string, ByThing>>();
  /** By a subject and a normalised predicate: a normalised one has lost the capitals of "isNot". */
  readonly #words = new Map<string, PredicateWords>();

  constructor(table: Pick<MemoryTable, "predicatesOf" | "objectsOf">) {
    this.#table = table;
  }

  note({ id, subjectNorm, predicateNorm, predicate, object }: MemoryRow): void {
    if (subjectNorm === null || predicateNorm === null || object === null) return;
    this.#noteWords(subjectNorm, { norm: predicateNorm, spelling: predicate ?? predicateNorm });
    const predicates = this.#changed.get(subjectNorm) ?? new Map<string, ByThing>();
    this.#changed.set(subjectNorm, predicates);
    const things = predicates.get(predicateNorm) ?? new Map<string, Set<string>>();
    predicates.set(predicateNorm, things);
    add(things, object, id);
  }

  /** Ids of the triples of a subject that may be among these. */
  ids(subject: string, { mayHave, thing }: Triples): Set<string> {
    const stored = this.#predicatesOf(subject);
    const isAsked = (predicate: string): boolean => mayHave(predicate, this.#wordsOf(subject, predicate));
    const asked = [...stored.keys()].filter(isAsked);
    this.#read(subject, asked, stored);
    const found = asked.flatMap((predicate) => [...(stored.get(predicate)?.get(thing) ?? [])]);
    const changed = [...(this.#changed.get(subject) ?? [])]
      .filter(([predicate]) => isAsked(predicate))
      .flatMap(([, things]) => [...(things.get(thing) ?? [])]);
    return new Set([...found, ...changed]);
  }

  #predicatesOf(subject: string): Map<string, ByThing | null> {
    const known = this.#stored.get(subject);
    if (known !== undefined) return known;
    const fresh = new Map<string, ByThing | null>();
    for (const one of this.#table.predicatesOf(subject)) {
      this.#noteWords(subject, one);
      fresh.set(one.norm, null);
    }
    this.#stored.set(subject, fresh);
    return fresh;
  }

  #noteWords(subject: string, { norm, spelling }: { norm: string; spelling: string }): void {
    const key = JSON.stringify([subject, norm]);
    if (!this.#words.has(key)) this.#words.set(key, wordsOf(spelling));
  }

  #wordsOf(subject: string, norm: string): PredicateWords {
    return this.#words.get(JSON.stringify([subject, norm])) ?? wordsOf(norm);
  }

  #read(subject: string, predicates: readonly string[], into: Map<string, ByThing | null>): void {
    const unread = predicates.filter((predicate) => into.get(predicate) === null);
    if (unread.length === 0) return;
    for (const predicate of unread) into.set(predicate, new Map());
    for (const { id, predicate, object } of this.#table.objectsOf(subject, unread)) {
      const things = into.get(predicate);
      if (things) add(things, object, id);
    }
  }
}

function add(things: ByThing, object: string, id: string): void {
  const thing = thingOf(object);
  things.set(thing, (things.get(thing) ?? new Set()).add(id));
}
