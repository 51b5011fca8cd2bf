import type { Draft, DraftSpan, Triples } from "../../../src/domain/memory/draft.ts";
import type { MemoryTable } from "./memory-table.ts";
import { TripleIndex } from "./triple-index.ts";
import type { MemoryRow } from "../../../src/domain/memory/table.ts";

/** The changes of one write before they are stored: rows to put, and memories to delete first. */
export class MemoryDraft implements Draft {
  readonly time: number;
  readonly #table: MemoryTable;
  readonly #changed = new Map<string, Map<number, MemoryRow>>();
  readonly #forgotten = new Set<string>();
  /** Rows that this write has read already. */
  readonly #stored = new Map<string, MemoryRow[]>();
  /** Ids of stored memories by text, of the texts that `readTexts` has read. */
  #withTexts: ReadonlyMap<string, readonly string[]> = new Map();
  /** Ids of changed memories, by text and by external id. */
  readonly #changedBy = new Map<string, Set<string>>();
  readonly #triples: TripleIndex;
  #last: number;

  constructor(table: MemoryTable, time: number) {
    this.#table = table;
    this.#triples = new TripleIndex(table);
    this.time = time;
    this.#last = table.clock.lastVersion();
  }

  held(id: string): MemoryRow[] {
    const held = this.#versions(id).filter(({ correctedAt }) => correctedAt === null);
    const last = held.at(-1);
    return last?.expiresAt != null && last.expiresAt < this.time ? [] : held;
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
    return [...this.#triples.ids(subject, are)].flatMap((id) =>
      this.held(id).filter(
        ({ subjectNorm, predicate, object }) =>
          subjectNorm === subject && predicate !== null && object !== null && are.has(predicate, object),
      ),
    );
  }

  put(row: MemoryRow): void {
    const changed = this.#changed.get(row.id) ?? new Map<number, MemoryRow>();
    this.#changed.set(row.id, changed.set(row.version, row));
    this.#note("text", row.dedupeKey, row.id);
    if (row.externalId !== null) this.#note("id", row.externalId, row.id);
    this.#triples.note(row);
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
    const kept = stored.filter(({ version }) => !changed.has(version));
    return [...kept, ...changed.values()].toSorted(
      (a, b) => a.validFrom - b.validFrom || a.version - b.version,
    );
  }

  #storedVersions(id: string): MemoryRow[] {
    const known = this.#stored.get(id) ?? this.#table.versions(id);
    this.#stored.set(id, known);
    return known;
  }

  #find(ids: Iterable<string>, matches: (row: MemoryRow) => boolean): MemoryRow | null {
    for (const id of ids) {
      const found = this.held(id).find(matches);
      if (found !== undefined) return found;
    }
    return null;
  }

  #note(by: "text" | "id", value: string, id: string): void {
    const ids = this.#changedBy.get(`${by} ${value}`) ?? new Set();
    this.#changedBy.set(`${by} ${value}`, ids.add(id));
  }

  #changedWith(by: "text" | "id", value: string): Iterable<string> {
    return this.#changedBy.get(`${by} ${value}`) ?? [];
  }
}
