import type { Triples } from "../../../src/domain/memory/draft.ts";
import { thingOf } from "../../../src/domain/memory/opposites.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";
import type { MemoryTable, Triple } from "./memory-table.ts";

/** The triples of one write by subject and object: the stored ones, of each object read once, and the changed ones. */
export class TripleIndex {
  readonly #table: Pick<MemoryTable, "triplesOf">;
  readonly #stored = new Map<string, readonly Triple[]>();
  readonly #changed = new Map<string, Triple[]>();

  constructor(table: Pick<MemoryTable, "triplesOf">) {
    this.#table = table;
  }

  note({ id, subjectNorm, predicate, object }: MemoryRow): void {
    if (subjectNorm === null || predicate === null || object === null) return;
    const key = keyOf(subjectNorm, thingOf(object));
    const noted = this.#changed.get(key) ?? [];
    noted.push({ id, predicate, object });
    this.#changed.set(key, noted);
  }

  /** Ids of the triples of a subject that are among these, or were before this write. */
  ids(subject: string, { thing, has }: Triples): Set<string> {
    const key = keyOf(subject, thing);
    const stored = this.#stored.get(key) ?? this.#table.triplesOf(subject, thing);
    this.#stored.set(key, stored);
    const among = [...stored, ...(this.#changed.get(key) ?? [])];
    return new Set(among.filter(({ predicate, object }) => has(predicate, object)).map(({ id }) => id));
  }
}

const keyOf = (subject: string, thing: string): string => JSON.stringify([subject, thing]);
