type Binding = SqlStorageValue | Uint8Array | Uint16Array;
type Place = Binding | SqlPart;

/** A part of a statement, with the values of its own `?`. A class, as no value that was parsed is one. */
export class SqlPart {
  readonly sql: string;
  readonly bindings: readonly Binding[];

  constructor(sql: string, bindings: readonly Binding[] = []) {
    this.sql = sql;
    this.bindings = bindings;
  }
}

/** SQL that becomes a part of a statement as it is. Never a caller's text. */
export const raw = (sql: string): SqlPart => new SqlPart(sql);

/** A part of a statement. Binds its values, as the statement does. */
export function part(texts: TemplateStringsArray, ...places: readonly Place[]): SqlPart {
  const bindings: Binding[] = [];
  const sql = texts.reduce((before, text, i) => {
    const place = places[i - 1] ?? null;
    if (place instanceof SqlPart) {
      bindings.push(...place.bindings);
      return before + place.sql + text;
    }
    bindings.push(place);
    return `${before}?${text}`;
  });
  return new SqlPart(sql, bindings);
}

/**
 * All rows of a statement that reads `size` rows behind the last one: no list is in memory as a whole, and no statement stays open.
 * `behind`: reads them; the first rows behind undefined.
 */
export function* inSlices<Row>(size: number, behind: (last: Row | undefined) => Row[]): Generator<Row, void> {
  for (let last: Row | undefined; ;) {
    const rows = behind(last);
    yield* rows;
    last = rows.at(-1);
    if (last === undefined || rows.length < size) return;
  }
}

/**
 * Runs the statements of an object. Each method is a tag of a template: it binds the values of the statement, and only a `SqlPart`
 * becomes text. So a value stands where it is used, and nobody counts question marks.
 *
 * @example
 * sql.column<string>`SELECT value FROM json_each(${list}) LIMIT ${2}`; // ["a", "b"]
 */
export class Sql {
  readonly storage: SqlStorage;

  constructor(storage: SqlStorage) {
    this.storage = storage;
  }

  rows<Row extends Record<string, SqlStorageValue>>(...statement: Parameters<typeof part>): Row[] {
    return this.#exec<Row>(statement).toArray();
  }

  /** The only row. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- As of `exec`: the caller knows the columns.
  one<Row extends Record<string, SqlStorageValue>>(...statement: Parameters<typeof part>): Row {
    return this.#exec<Row>(statement).one();
  }

  /** The rows as lists: to name the columns of a row takes as long as to read it. */
  lists<Row extends SqlStorageValue[]>(...statement: Parameters<typeof part>): Row[] {
    return [...this.#exec(statement).raw<Row>()];
  }

  /** The values of the only column. */
  column<Value extends SqlStorageValue>(...statement: Parameters<typeof part>): Value[] {
    return this.lists<[Value]>(...statement).map(([value]) => value);
  }

  /** The value of the only column and row. */
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- As of `exec`: the caller knows the column.
  value<Value extends SqlStorageValue>(...statement: Parameters<typeof part>): Value {
    const [value] = this.column<Value>(...statement);
    if (value === undefined) throw new Error("the statement has no row");
    return value;
  }

  /** True if there is any row. */
  has(...statement: Parameters<typeof part>): boolean {
    return this.lists(...statement).length > 0;
  }

  /** Returns how many rows it wrote, those of indexes among them. */
  run(...statement: Parameters<typeof part>): number {
    return this.#exec(statement).rowsWritten;
  }

  #exec<Row extends Record<string, SqlStorageValue>>(statement: Parameters<typeof part>) {
    const { sql, bindings } = part(...statement);
    return this.storage.exec<Row>(sql, ...bindings);
  }
}

/** A part that owns, or reads, tables of an object. */
export abstract class SqlStore {
  protected readonly sql: Sql;

  constructor(sql: SqlStorage) {
    this.sql = new Sql(sql);
  }
}
