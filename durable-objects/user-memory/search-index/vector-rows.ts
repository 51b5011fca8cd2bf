import type { Quantised } from "../../../src/platform/vectors/int8.ts";
import { FIRST_POSITION, type PositionRange } from "../core/position.ts";
import type { SqlCondition } from "../core/sql-condition.ts";

/** A document's vector in the space of one model. */
export type VectorName = { n: number; model: string };
export type StoredVector = { n: number; vector: Quantised };
type Row = { n: number; scale: number; data: ArrayBuffer };

/** SQL that selects the numbers of the documents with a vector of the model, a binding. */
export const OF_MODEL = "SELECT n FROM vectors WHERE model = ?";
/** SQL that selects the numbers of the documents with a vector, from ?1 to ?2. */
export const IN_RANGE = "SELECT n FROM vectors WHERE n BETWEEN ?1 AND ?2";

/** The stored vectors. Owns the SQL of `vectors`; a document has one, of the model that embedded it last. */
export class VectorRows {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put({ n, model }: VectorName, { scale, data }: Quantised): void {
    this.#sql.exec(
      "INSERT OR REPLACE INTO vectors (n, model, scale, data) VALUES (?, ?, ?, ?)",
      n,
      model,
      scale,
      data,
    );
  }

  /** Gives one document the vector of another; null if that has none. */
  copy(from: number, to: number): (StoredVector & { model: string }) | null {
    const [row] = this.#sql
      .exec<Row & { model: string }>(
        "INSERT OR REPLACE INTO vectors (n, model, scale, data) SELECT ?, model, scale, data FROM vectors WHERE n = ? RETURNING n, model, scale, data",
        to,
        from,
      )
      .toArray();
    return row === undefined ? null : { ...storedOf(row), model: row.model };
  }

  /** Removes a document's vector of any other model. */
  removeOther({ n, model }: VectorName): VectorName[] {
    return this.remove({ sql: "n = ? AND model <> ?", bindings: [n, model] });
  }

  remove({ sql, bindings }: SqlCondition): VectorName[] {
    return this.#sql
      .exec<VectorName>(`DELETE FROM vectors WHERE ${sql} RETURNING n, model`, ...bindings)
      .toArray();
  }

  /** The models that documents have vectors of. */
  models(): string[] {
    // Skips from one model to the next in the index, and so reads a row for each.
    const models: string[] = [];
    for (let last = ""; ;) {
      const { next } = this.#sql
        .exec<{ next: string | null }>("SELECT MIN(model) AS next FROM vectors WHERE model > ?", last)
        .one();
      if (next === null) return models;
      models.push(next);
      last = next;
    }
  }

  /** True if a message has a vector of the model. */
  hasMessages(model: string): boolean {
    const any = "SELECT 1 FROM vectors WHERE model = ? AND n >= ? LIMIT 1";
    return this.#sql.exec(any, model, FIRST_POSITION).toArray().length > 0;
  }

  holds({ sql, bindings }: SqlCondition): boolean {
    return this.#sql.exec(`SELECT 1 FROM vectors WHERE ${sql} LIMIT 1`, ...bindings).toArray().length > 0;
  }

  /** The documents of these numbers, both included, that have a vector of the model. */
  numbersBetween([from, to]: PositionRange, model: string): number[] {
    return this.#sql
      .exec<{ n: number }>("SELECT n FROM vectors WHERE n BETWEEN ? AND ? AND model = ?", from, to, model)
      .toArray()
      .map((row) => row.n);
  }

  /** The vectors of these documents that are of the model. */
  read(model: string, numbers: readonly number[]): StoredVector[] {
    return this.#sql
      .exec<Row>(
        "SELECT n, scale, data FROM vectors WHERE model = ? AND n IN (SELECT value FROM json_each(?))",
        model,
        JSON.stringify(numbers),
      )
      .toArray()
      .map(storedOf);
  }

  /** The last vectors of a model in a range, the greatest number first. */
  last(model: string, [from, to]: PositionRange, limit: number): StoredVector[] {
    return this.#sql
      .exec<Row>(
        `SELECT n, scale, data FROM vectors INDEXED BY vectors_by_model
         WHERE model = ? AND n BETWEEN ? AND ? ORDER BY n DESC LIMIT ?`,
        model,
        from,
        to,
        limit,
      )
      .toArray()
      .map(storedOf);
  }

  /** Counts the vectors of a model in a range, up to `most`. */
  count(model: string, [from, to]: PositionRange, most: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT COUNT(*) AS n FROM (SELECT 1 FROM vectors INDEXED BY vectors_by_model
         WHERE model = ? AND n BETWEEN ? AND ? LIMIT ?)`,
        model,
        from,
        to,
        most,
      )
      .one().n;
  }

  /** The number of the nth vector of a model in a range, counted from the greatest. */
  nth(model: string, [from, to]: PositionRange, nth: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT n FROM vectors INDEXED BY vectors_by_model
         WHERE model = ? AND n BETWEEN ? AND ? ORDER BY n DESC LIMIT 1 OFFSET ?`,
        model,
        from,
        to,
        nth - 1,
      )
      .one().n;
  }
}

const storedOf = ({ n, scale, data }: Row): StoredVector => ({
  n,
  vector: { data: new Int8Array(data), scale },
});
