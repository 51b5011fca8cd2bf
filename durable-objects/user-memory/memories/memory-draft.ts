import type { Draft, DraftSpan, Triples } from "../../../src/domain/memory/draft.ts";
import { thingOf } from "../../../src/domain/memory/opposites.ts";
import type { MemoryTable, Triple } from "./memory-table.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** The changes of one write before they are stored: rows to put, and memories to delete first. */
export class MemoryDraft implements Draft {
  readonly time: number;
  readonly #table: MemoryTable;
  readonly #changed = new Map<string, Map<number, MemoryRow>>();
  readonly #forgotten = new Set<string>();
  readonly #stored = new Map<string, MemoryRow[]>();
  /** Ids of stored memories by text, of the texts that `readTexts` has read. */
  #withTexts: ReadonlyMap<string, readonly string[]> = new Map();
  /** The stored triples by subject and object, of each object read once. */
  readonly #triples = new Map<string, readonly Triple[]>();
  /** Ids of changed memories by what they are looked for: see `keysOf`. */
  readonly #changedBy = new Map<string, Set<string>>();
  #last: number;

  constructor(table: MemoryTable, time: number) {
    this.#table = table;
    this.time = time;
    this.#last = table.clock.lastVersion();
  }

  current(id: string): MemoryRow[] {
    const rows = this.#versions(id).filter(({ correctedAt }) => correctedAt === null);
    const last = rows.at(-1);
    return last?.expiresAt != null && last.expiresAt < this.time ? [] : rows;
  }

  version(id: string, version: number): MemoryRow | null {
    const changed = this.#changed.get(id)?.get(version);
    return changed ?? this.#versions(id).find((row) => row.version === version) ?? null;
  }

  /** Reads which memories have these texts, by one statement for all. */
  readTexts(dedupeKeys: readonly string[]): void {
    this.#withTexts = this.#table.withTexts(dedupeKeys);
  }

  withText(dedupeKey: string, { status, from, to }: DraftSpan): MemoryRow | null {
    const stored = this.#withTexts.get(dedupeKey) ?? this.#table.withTexts([dedupeKey]).get(dedupeKey) ?? [];
    return this.#find(
      [...stored, ...this.#changedWith("text", dedupeKey)],
      (row) =>
        row.dedupeKey === dedupeKey &&
        row.status === status &&
        row.validFrom < to &&
        (row.validTo ?? Infinity) > from &&
        (row.supersededAt ?? Infinity) > from,
    );
  }

  withExternalId(externalId: string): MemoryRow | null {
    return this.#find(
      [...this.#table.withExternalId(externalId), ...this.#changedWith("id", externalId)],
      (row) => row.externalId === externalId && row.status === "active" && row.supersededAt === null,
    );
  }

  ofSubject(subject: string, are: Triples): MemoryRow[] {
    const isAmong = ({ subjectNorm, predicate, object }: MemoryRow): boolean =>
      subjectNorm === subject && predicate !== null && object !== null && are.has(predicate, object);
    const key = keyOf("triple", subject, are.thing);
    const triples = this.#triples.get(key) ?? this.#table.triplesOf(subject, are.thing);
    this.#triples.set(key, triples);
    const stored = triples.filter(({ predicate, object }) => are.has(predicate, object)).map(({ id }) => id);
    const ids = new Set([...stored, ...this.#changedWith("triple", subject, are.thing)]);
    return [...ids].flatMap((id) => this.current(id).filter(isAmong));
  }

  put(row: MemoryRow): void {
    const changed = this.#changed.get(row.id) ?? new Map<number, MemoryRow>();
    this.#changed.set(row.id, changed.set(row.version, row));
    for (const key of keysOf(row))
      this.#changedBy.set(key, (this.#changedBy.get(key) ?? new Set()).add(row.id));
  }

  forget(id: string): void {
    this.#changed.delete(id);
    if (this.#table.has(id)) this.#forgotten.add(id);
  }

  nextVersion(): number {
    return ++this.#last;
  }

  get write(): { put: MemoryRow[]; forget: string[] } {
    return {
      put: [...this.#changed.values()].flatMap((rows) => [...rows.values()]),
      forget: [...this.#forgotten],
    };
  }

  #versions(id: string): MemoryRow[] {
    const stored = this.#forgotten.has(id) ? [] : this.#storedVersions(id);
    const changed = this.#changed.get(id);
    if (changed === undefined) return stored;
    const unchanged = stored.filter(({ version }) => !changed.has(version));
    return [...unchanged, ...changed.values()].toSorted(
      (a, b) => a.validFrom - b.validFrom || a.version - b.version,
    );
  }

  #storedVersions(id: string): MemoryRow[] {
    const rows = this.#stored.get(id) ?? this.#table.versions(id);
    this.#stored.set(id, rows);
    return rows;
  }

  #changedWith(...key: Parameters<typeof keyOf>): Iterable<string> {
    return this.#changedBy.get(keyOf(...key)) ?? [];
  }

  #find(ids: Iterable<string>, matches: (row: MemoryRow) => boolean): MemoryRow | null {
    for (const id of ids) {
      const row = this.current(id).find(matches);
      if (row !== undefined) return row;
    }
    return null;
  }
}

const keyOf = (by: "text" | "id" | "triple", ...values: readonly string[]): string =>
  JSON.stringify([by, ...values]);

/** A memory is looked for by its text, by its external id, and by its subject and object. */
const keysOf = ({ dedupeKey, externalId, subjectNorm, predicate, object }: MemoryRow): string[] => [
  keyOf("text", dedupeKey),
  ...(externalId === null ? [] : [keyOf("id", externalId)]),
  ...(subjectNorm === null || predicate === null || object === null
    ? []
    : [keyOf("triple", subjectNorm, thingOf(object))]),
];
