import type { Embedder, Vector } from "../../src/embeddings/embedder.ts";
import { quantise } from "../../src/vectors/int8.ts";
import { VectorTable } from "../../src/vectors/vector-table.ts";
import { FIRST_POSITION } from "./position.ts";

type VectorRow = { n: number; scale: number; data: ArrayBuffer };

/** What the vectors of one object may take of the 128 MB that an isolate has for all that is in it. */
const VECTOR_BYTES = 24 * 1024 * 1024;

/** The vectors of all documents. Owns the SQL of `vectors`; a document has one, of the model that embedded it last. */
export class VectorStore {
  readonly #sql: SqlStorage;
  /** The vectors in memory by model, filled by the first recall and kept up to date from then on. */
  #loaded = new Map<string, VectorTable>();

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  put(
    n: number,
    { model, dimensions }: Pick<Embedder, "model" | "dimensions">,
    vector: NonNullable<Vector>,
  ): void {
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    const quantised = quantise(vector);
    this.#sql.exec(
      "INSERT OR REPLACE INTO vectors (n, model, scale, data) VALUES (?, ?, ?, ?)",
      n,
      model,
      quantised.scale,
      quantised.data,
    );
    for (const [name, table] of this.#loaded)
      if (name === model) table.set(n, quantised);
      else table.delete(n);
  }

  /** Gives one document the vector of another, if that has one. */
  copy(from: number, to: number): boolean {
    const [row] = this.#sql
      .exec<VectorRow & { model: string }>(
        "INSERT OR REPLACE INTO vectors (n, model, scale, data) SELECT ?, model, scale, data FROM vectors WHERE n = ? RETURNING n, model, scale, data",
        to,
        from,
      )
      .toArray();
    if (row === undefined) return false;
    this.#loaded.get(row.model)?.set(to, { data: new Int8Array(row.data), scale: row.scale });
    return true;
  }

  /** Says that these documents are gone. */
  removed(numbers: Iterable<number>): void {
    for (const n of numbers) for (const table of this.#loaded.values()) table.delete(n);
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

  /** The vectors of one model, as many as there is room for: memories first, then messages, the newest of each. */
  table({ model, dimensions }: Pick<Embedder, "model" | "dimensions">): VectorTable {
    const known = this.#loaded.get(model);
    if (known !== undefined) return known;
    const table = new VectorTable(dimensions, Math.floor(VECTOR_BYTES / dimensions));
    const rows = this.#sql.exec<VectorRow>(
      "SELECT n, scale, data FROM vectors WHERE model = ? ORDER BY n >= ?, n DESC",
      model,
      FIRST_POSITION,
    );
    for (const { n, scale, data } of rows) if (!table.set(n, { data: new Int8Array(data), scale })) break;
    this.#loaded.set(model, table);
    return table;
  }

  /** Drops what is held in memory, which may be ahead of a storage whose transaction was undone. */
  forgetLoaded(): void {
    this.#loaded = new Map();
  }
}
