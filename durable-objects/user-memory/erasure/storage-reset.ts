import { migrate, type Migration } from "../../storage/migrate.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import type { ErasureLog } from "./erasure-log.ts";
import { EMPTIED, type ErasedTables, STAYING, USER_TABLES } from "./erased-tables.ts";

/** Tables that must be empty: a row means that something elsewhere is still to be deleted. */
const SETTLED: readonly string[] = ["erasing_versions", "announced_threads", "vector_outbox", "zeros"];
/** Tables that the migrations create with their first rows. */
const FRESH: readonly string[] = [
  "applied_migrations",
  "entry_count",
  "word_merge",
  "word_terms",
  "free_pages",
];
/** Tables of a few rows that are copied: numbers that are never used twice, and the erasure itself. */
const COPIED = STAYING.filter((table) => !SETTLED.includes(table) && !FRESH.includes(table));
const EMPTY = [...Object.keys(USER_TABLES), ...EMPTIED, ...SETTLED];

type Sequence = { name: string; seq: number };
type Rows = Record<string, SqlStorageValue>[];
type StorageResetDependencies = {
  storage: DurableObjectStorage;
  tables: Pick<ErasedTables, "hasHidden" | "anyHasRows">;
  log: Pick<ErasureLog, "all">;
  alarms: AlarmScheduler;
  migrations: readonly Migration[];
  /** Stops the object without a commit. */
  abort: () => void;
};

/**
 * Deletes the object's whole database where a user's erasure has left nothing in it, and makes it anew with the same rows.
 * Its file is then as small as a new one, and has no page that was used before. No other state of the object changes.
 */
export class StorageReset {
  readonly #deps: StorageResetDependencies;

  constructor(deps: StorageResetDependencies) {
    this.#deps = deps;
  }

  /** True if only the rows that are copied are left: nothing was written since the erasure began. */
  get isPossible(): boolean {
    const { tables, log } = this.#deps;
    return log.all().length === 1 && !tables.anyHasRows(EMPTY) && !tables.hasHidden;
  }

  /**
   * All of it happens before the first `await`, so that the platform commits the deletion together with the copied rows. A
   * local server deletes the file at once: an object that dies before the commit starts with nothing. See `Eraser.takeOver`.
   */
  async reset(): Promise<void> {
    const { storage, alarms, migrations, abort } = this.#deps;
    const copied = COPIED.map((table) => [table, this.#read(table)] as const);
    const sequences = this.#sequences();
    const deleted = storage.deleteAll();
    try {
      migrate(storage, migrations);
      storage.transactionSync(() => {
        for (const [table, rows] of copied) this.#write(table, rows);
        for (const { name, seq } of sequences) this.#setSequence(name, seq);
      });
      alarms.setAgain();
    } catch (error) {
      console.error({ message: "the storage was not made anew", error: String(error) });
      // The platform would commit the deletion alone, and the object would go on without tables.
      abort();
      throw error;
    }
    await deleted;
  }

  #read(table: string): Rows {
    return this.#deps.storage.sql.exec(`SELECT * FROM ${table}`).toArray();
  }

  #write(table: string, rows: Rows): void {
    const { sql } = this.#deps.storage;
    sql.exec(`DELETE FROM ${table}`);
    for (const row of rows) {
      const columns = Object.keys(row);
      sql.exec(
        `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
        ...Object.values(row),
      );
    }
  }

  /** The last numbers of tables that give each number once; those of hidden tables are gone with them. */
  #sequences(): Sequence[] {
    return this.#deps.storage.sql
      .exec<Sequence>("SELECT name, seq FROM sqlite_sequence WHERE name NOT GLOB 'erased_[0-9]*_*'")
      .toArray();
  }

  #setSequence(name: string, seq: number): void {
    const { sql } = this.#deps.storage;
    sql.exec("DELETE FROM sqlite_sequence WHERE name = ?", name);
    sql.exec("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", name, seq);
  }
}
