import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

export type Value = ArrayBuffer | Uint8Array | string | number | boolean | null;
export type Row = Record<string, ArrayBuffer | string | number | null>;
type Done = { rows: Row[]; changes: number };

/** As many as D1 and an object's storage take in one statement. */
const MOST_BOUND = 100;

/** Runs statements as D1 and the objects' storage do: blobs are ArrayBuffers, and what binds too much is refused. */
export class Sql {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Runs one statement; or several, which then take no values and give no rows. */
  run(text: string, values: readonly Value[] = []): Done {
    if (values.length > MOST_BOUND) throw new Error("too many SQL variables: SQLITE_ERROR");
    if (values.length === 0 && /;\s*\S/.test(text)) {
      this.#database.exec(text);
      return { rows: [], changes: 0 };
    }
    const statement = this.#statement(text);
    const bound = values.map(boundValue);
    if (statement.columns().length === 0)
      return { rows: [], changes: Number(statement.run(...bound).changes) };
    const rows = statement.all(...bound).map(rowOf);
    return { rows, changes: /^\s*(INSERT|UPDATE|DELETE|REPLACE)/i.test(text) ? rows.length : 0 };
  }

  /** Runs a statement, with its rows as arrays, since columns may share a name. */
  arrays(text: string, values: readonly Value[]): unknown[][] {
    if (values.length > MOST_BOUND) throw new Error("too many SQL variables: SQLITE_ERROR");
    const statement = this.#database.prepare(text);
    statement.setReturnArrays(true);
    // With arrays asked for, arrays come; the types do not follow.
    const rows = statement.all(...values.map(boundValue)) as unknown as unknown[][];
    return rows.map((row) => row.map(readValue));
  }

  /** Commits the writes of `act` when it ends, and rolls them back when it throws. May be nested. */
  atomically<T>(act: () => T): T {
    this.#database.exec("SAVEPOINT step");
    try {
      const done = act();
      this.#database.exec("RELEASE step");
      return done;
    } catch (error) {
      this.#database.exec("ROLLBACK TO step; RELEASE step");
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }

  #statement(text: string): StatementSync {
    const known = this.#prepared.get(text);
    if (known !== undefined) return known;
    const fresh = this.#database.prepare(text);
    this.#prepared.set(text, fresh);
    return fresh;
  }
}

function boundValue(value: Value): SQLInputValue {
  if (value === undefined) throw new TypeError("a statement binds undefined");
  if (typeof value === "boolean") return value ? 1 : 0;
  return value instanceof ArrayBuffer ? new Uint8Array(value) : value;
}

const rowOf = (row: Record<string, unknown>): Row =>
  // The values are what `readValue` makes of them.
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, readValue(value)])) as Row;

const readValue = (value: unknown): unknown => (value instanceof Uint8Array ? value.slice().buffer : value);
