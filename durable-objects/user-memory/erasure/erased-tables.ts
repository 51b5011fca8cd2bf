import { raw, SqlStore } from "../../storage/sql.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import { MODEL_NAME, type VectorName } from "../search-index/vector-rows.ts";

/**
 * The tables that hold what the user has, each with the columns that name a row and what its rows are to who reads a
 * receipt (null: parts of what is counted elsewhere).
 */
export const USER_TABLES = {
  threads: { key: "n", counted: "threads" },
  messages: { key: "position", counted: "messages" },
  message_parts: { key: "rowid", counted: null },
  hidden_messages: { key: "thread, seq", counted: null },
  compactions: { key: "thread, id", counted: "compactions" },
  entries: { key: "rowid", counted: "entries" },
  answers: { key: "rowid", counted: "answers" },
  answer_memories: { key: "memory_id, key", counted: null },
  memories: { key: "rowid", counted: "memoryVersions" },
  memory_tags: { key: "tag, version", counted: null },
  words: { key: "rowid", counted: null },
  vectors: { key: "n", counted: "vectors" },
  unembedded: { key: "n", counted: null },
  context_blocks: { key: "thread, name", counted: null },
  context_entries: { key: "entry, version, thread", counted: null },
  context_profiles: { key: "name", counted: null },
  ingests: { key: "id", counted: null },
  ingested_threads: { key: "thread", counted: null },
  removals: { key: "kind, n", counted: null },
  removals_pruned: { key: "kind", counted: null },
  memory_usage: { key: "n", counted: null },
  retention: { key: "rowid", counted: null },
} as const;
type UserTable = keyof typeof USER_TABLES;

/** Small ones, which are emptied at once. */
export const EMPTIED = [
  "owner",
  "catalogue_changes",
  "catalogue_attempts",
  "intents",
  "reindex",
  "tombstones",
] as const;
/** Inserts that fill one page (4,096 bytes) of each table with user text. */
const FILL = [
  "INSERT INTO owner (id) VALUES (zeroblob(4020))",
  "INSERT INTO intents (n, put) VALUES (0, zeroblob(4020))",
];
/** Tables that stay: numbers that are never used twice, and deletions elsewhere that are still open. None has the user's words. */
export const STAYING = [
  "applied_migrations",
  "memory_clock",
  "models",
  "erasure_epoch",
  "erasures",
  "erasing_versions",
  "index_state",
  "entry_count",
  "failures",
  "announced_threads",
  "message_copies",
  "vector_outbox",
  "vector_outbox_models",
  "word_merge",
  "word_terms",
  "free_pages",
  "webhook_delivery",
  "model_usage",
  "zeros",
] as const;

/** A user that has written something has a row in one of these. */
const WRITTEN = ["threads", "entries", "memories", "answers", "intents"] as const;
/** Rows that one call removes; a row holds up to 1 MiB. */
const SLICE = 1000;

type Schema = { type: string; name: string; sql: string };

/**
 * Hides all tables of a user at once: renames them and creates empty ones. `removeSome` deletes the renamed rows in slices,
 * as deleting a million rows at once would block the user's next call and the isolate.
 */
export class ErasedTables extends SqlStore {
  readonly #erasureEpoch: Pick<ErasureEpoch, "next">;

  constructor(sql: SqlStorage, erasureEpoch: Pick<ErasureEpoch, "next">) {
    super(sql);
    this.#erasureEpoch = erasureEpoch;
  }

  /** True if the user has nothing here. */
  get empty(): boolean {
    return !this.anyHasRows(WRITTEN);
  }

  /** True if one of these tables has a row. */
  anyHasRows(tables: readonly string[]): boolean {
    const some = tables.map((table) => `EXISTS (SELECT 1 FROM ${table})`).join(" OR ");
    return this.sql.value<number>`SELECT ${raw(some)}` !== 0;
  }

  /**
   * Begins the next epoch, after this version, and renames all tables by it, as no other erasure has it. Returns the number of the
   * last thread: later threads have greater ones. Call it in a transaction.
   */
  hide(upTo: number): { epoch: number; lastThread: number } {
    const epoch = this.#erasureEpoch.next(upTo);
    const lastThread = this.sql
      .value<number>`SELECT COALESCE(MAX(seq), 0) FROM sqlite_sequence WHERE name = 'threads'`;
    const tables = Object.keys(USER_TABLES) as UserTable[];
    const schemas = tables.map((table) => this.#schemaOf(table));
    // An index keeps its name when its table gets another one; and a trigger would go on with what is removed.
    for (const { type, name } of schemas.flat().filter((one) => one.type !== "table"))
      this.sql.run`DROP ${raw(type)} ${raw(name)}`;
    for (const table of tables)
      this.sql.run`ALTER TABLE ${raw(table)} RENAME TO ${raw(hidden(epoch, table))}`;
    for (const { sql } of schemas.flat()) this.sql.run`${raw(sql)}`;
    // Numbers of threads go on: a message's position is not used twice.
    this.sql.run`DELETE FROM sqlite_sequence WHERE name = 'threads'`;
    this.sql.run`INSERT INTO sqlite_sequence (name, seq) VALUES ('threads', ${lastThread})`;
    for (const table of EMPTIED) this.sql.run`DELETE FROM ${raw(table)}`;
    // A row that fills the first page of each of these overwrites its old content.
    for (const fill of FILL) this.sql.run`${raw(fill)}`;
    for (const table of EMPTIED) this.sql.run`DELETE FROM ${raw(table)}`;
    this.sql.run`UPDATE entry_count SET n = 0`;
    return { epoch, lastThread };
  }

  /**
   * Removes some rows of the tables hidden in an epoch. Returns their number and their vectors; null if all of these tables
   * read as empty. Call it in a transaction.
   */
  removeSome(epoch: number): { counted: Record<string, number>; vectors: VectorName[] } | null {
    const table = this.#tablesHiddenIn(epoch).find((one) => this.anyHasRows([hidden(epoch, one)]));
    if (table === undefined) return null;
    const name = hidden(epoch, table);
    if (table === "words") {
      // Its rows cannot be told from each other any more, nor read: they go as a whole.
      this.sql.run`INSERT INTO ${raw(name)} (${raw(name)}) VALUES ('delete-all')`;
      return { counted: {}, vectors: [] };
    }
    const gone = this.#deleteSlice(name, table);
    const { counted } = USER_TABLES[table];
    const vectors = gone.filter(({ model }) => model !== null) as VectorName[];
    return {
      counted: counted === null ? {} : { [counted]: table === "vectors" ? vectors.length : gone.length },
      vectors,
    };
  }

  /** Drops the hidden tables that are empty. */
  dropEmpty(): void {
    for (const name of this.#allHidden()) if (!this.anyHasRows([name])) this.sql.run`DROP TABLE ${raw(name)}`;
  }

  /** True if a table hidden in this epoch has rows. */
  hasHiddenOf(epoch: number): boolean {
    return this.#tablesHiddenIn(epoch).some((table) => this.anyHasRows([hidden(epoch, table)]));
  }

  /** True if a table hidden in any epoch has rows. */
  get hasHidden(): boolean {
    return this.#allHidden().some((name) => this.anyHasRows([name]));
  }

  /** The rows that are gone: of vectors their names, which others have no use for. */
  #deleteSlice(name: string, table: UserTable): { n: number; model: string | null }[] {
    const { key } = USER_TABLES[table];
    const returned = table === "vectors" ? `n, ${MODEL_NAME} AS model` : "0 AS n, NULL AS model";
    return this.sql.rows`
      DELETE FROM ${raw(name)} WHERE (${raw(key)}) IN (SELECT ${raw(key)} FROM ${raw(name)} LIMIT ${SLICE})
      RETURNING ${raw(returned)}`;
  }

  #tablesHiddenIn(epoch: number): UserTable[] {
    const known = Object.keys(USER_TABLES) as UserTable[];
    return known.filter(
      (table) => this.sql.has`SELECT 1 FROM sqlite_schema WHERE name = ${hidden(epoch, table)}`,
    );
  }

  #allHidden(): string[] {
    return this.sql.column`
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'erased_[0-9]*_*'
        AND name NOT GLOB 'erased_[0-9]*_words_*'`;
  }

  /** The statements that made a table, its indexes and its triggers, the table's first. */
  #schemaOf(table: string): Schema[] {
    return this.sql.rows`
      SELECT type, name, sql FROM sqlite_schema WHERE tbl_name = ${table} AND sql IS NOT NULL
      ORDER BY type <> 'table', name`;
  }
}

const hidden = (epoch: number, table: string): string => `erased_${epoch}_${table}`;
