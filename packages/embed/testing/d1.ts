import type { Sql, Value } from "./sql.ts";

/** A D1 database in memory, with as much of the interface as Cairn uses. */
export class MemoryD1 {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  prepare(text: string): Statement {
    return new Statement(this.#sql, text);
  }

  /** All statements, or none. */
  async batch(statements: readonly Statement[]): Promise<Result[]> {
    return this.#sql.atomically(() => statements.map((statement) => statement.result()));
  }
}

type Result = { success: true; results: object[]; meta: { changes: number } };

class Statement {
  readonly #sql: Sql;
  readonly #text: string;
  readonly #values: readonly Value[];

  constructor(sql: Sql, text: string, values: readonly Value[] = []) {
    this.#sql = sql;
    this.#text = text;
    this.#values = values;
  }

  bind(...values: Value[]): Statement {
    return new Statement(this.#sql, this.#text, values);
  }

  async all(): Promise<Result> {
    return this.result();
  }

  async run(): Promise<Result> {
    return this.result();
  }

  async raw(): Promise<unknown[][]> {
    return this.#sql.arrays(this.#text, this.#values);
  }

  async first(column?: string): Promise<unknown> {
    const [row] = this.#sql.run(this.#text, this.#values).rows;
    return (column === undefined ? row : row?.[column]) ?? null;
  }

  result(): Result {
    const { rows, changes } = this.#sql.run(this.#text, this.#values);
    return { success: true, results: rows, meta: { changes } };
  }
}
