type Value = string | number | ArrayBuffer | null;
type Bindings = readonly (Value | Uint8Array | Uint16Array)[];

/** A part that owns, or reads, tables of the object. */
export abstract class SqlStore {
  protected readonly sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.sql = sql;
  }

  protected exec(statement: string, bindings: Bindings = []): void {
    this.sql.exec(statement, ...bindings);
  }

  /** The rows that a statement selects or returns. */
  protected rows<Row extends Record<string, Value>>(statement: string, bindings: Bindings = []): Row[] {
    return this.sql.exec<Row>(statement, ...bindings).toArray();
  }

  /** The only row. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as below
  protected one<Row extends Record<string, Value>>(statement: string, bindings: Bindings = []): Row {
    return this.sql.exec<Row>(statement, ...bindings).one();
  }

  /** The first row; null without one. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the row, as with `exec` of SqlStorage
  protected row<Row extends Record<string, Value>>(statement: string, bindings: Bindings = []): Row | null {
    return this.rows<Row>(statement, bindings)[0] ?? null;
  }

  /** The values of the only column. */
  protected column<T extends Value>(statement: string, bindings: Bindings = []): T[] {
    return Array.from(this.sql.exec(statement, ...bindings).raw<[T]>(), ([value]) => value);
  }

  /** The only value of the only row. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the column
  protected value<T extends Value = number>(statement: string, bindings: Bindings = []): T {
    const [value] = Object.values(this.one<Record<string, T>>(statement, bindings));
    // The statement selects one column.
    return value as T;
  }

  /** True if a statement selects or returns a row. */
  protected selects(statement: string, bindings: Bindings = []): boolean {
    return this.row(statement, bindings) !== null;
  }
}
