import type { Row, Sql, Value } from "./sql.ts";

const PAGES_IN_USE = `SELECT (page_count - freelist_count) * page_size AS bytes
  FROM pragma_page_count, pragma_freelist_count, pragma_page_size`;

/** An object's storage: its SQLite, and its values and its one alarm, which a transaction that fails takes back. */
export class ObjectStorage {
  readonly sql: { exec: (text: string, ...values: Value[]) => Cursor; readonly databaseSize: number };
  readonly #sql: Sql;
  readonly #armed: (at: number | null) => void;
  #alarm: number | null = null;
  #values: ReadonlyMap<string, unknown> = new Map();
  /** The values beside the tables. */
  readonly kv = {
    get: (key: string): unknown => this.#values.get(key),
    put: (key: string, value: unknown): void =>
      void (this.#values = new Map([...this.#values, [key, value]])),
    delete: (key: string): void =>
      void (this.#values = new Map([...this.#values].filter(([name]) => name !== key))),
  };

  /** `armed` is told of every change of the alarm. */
  constructor(sql: Sql, armed: (at: number | null) => void) {
    this.#sql = sql;
    this.#armed = armed;
    this.sql = {
      exec: (text, ...values) => new Cursor(sql.run(text, values)),
      // As the platform counts them: without the pages that are free.
      get databaseSize() {
        return Number(sql.run(PAGES_IN_USE).rows[0]?.["bytes"]);
      },
    };
  }

  transactionSync<T>(act: () => T): T {
    const [before, values] = [this.#alarm, this.#values];
    try {
      return this.#sql.atomically(act);
    } catch (error) {
      this.#set(before);
      this.#values = values;
      throw error;
    }
  }

  async getAlarm(): Promise<number | null> {
    return this.#alarm;
  }

  async setAlarm(at: number | Date): Promise<void> {
    this.#set(Number(at));
  }

  async deleteAlarm(): Promise<void> {
    this.#set(null);
  }

  /** Empties the object, as the platform does. */
  async deleteAll(): Promise<void> {
    this.#set(null);
    this.#values = new Map();
    const tables = this.#sql.run(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY sql LIKE 'CREATE VIRTUAL%' DESC",
    );
    for (const { name } of tables.rows)
      if (typeof name === "string") this.#sql.run(`DROP TABLE IF EXISTS "${name}"`);
  }

  #set(at: number | null): void {
    this.#alarm = at;
    this.#armed(at);
  }
}

/** The rows of a statement: an iterator over what was not read yet, as the platform's is. */
class Cursor implements IterableIterator<Row> {
  readonly rowsRead: number;
  readonly rowsWritten: number;
  readonly #rows: ArrayIterator<Row>;

  constructor({ rows, changes }: { rows: Row[]; changes: number }) {
    this.#rows = rows.values();
    this.rowsRead = rows.length;
    this.rowsWritten = changes;
  }

  next(): IteratorResult<Row> {
    return this.#rows.next();
  }

  toArray(): Row[] {
    return [...this.#rows];
  }

  /** The one row that there is. */
  one(): Row {
    const rows = this.toArray();
    const [row] = rows;
    if (row === undefined || rows.length > 1)
      throw new Error(`Expected exactly one result from SQL query, but got ${rows.length}`);
    return row;
  }

  raw(): IterableIterator<unknown[]> {
    return this.#rows.map((row) => Object.values(row));
  }

  [Symbol.iterator](): this {
    return this;
  }
}
