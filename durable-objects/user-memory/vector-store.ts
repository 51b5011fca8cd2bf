import type { Embedder, Vector } from "../../src/embeddings/embedder.ts";
import { type Quantised, quantise } from "../../src/vectors/int8.ts";
import { VectorTable } from "../../src/vectors/vector-table.ts";
import { FIRST_POSITION } from "./position.ts";

type VectorRow = { n: number; scale: number; data: ArrayBuffer };

/** What the vectors of one object may take of the 128 MB that an isolate has for all that is in it. */
const VECTOR_BYTES = 24 * 1024 * 1024;

/** A document's vector in the space of one model. */
export type VectorName = { n: number; model: string };
/** What is to hold the same vectors as is held here. */
export type VectorCopy = {
  put: (n: number, model: string) => void;
  remove: (vectors: readonly VectorName[]) => void;
};

/** The vectors of all documents. Owns the SQL of `vectors`; a document has one, of the model that embedded it last. */
export class VectorStore {
  readonly #sql: SqlStorage;
  readonly #copy: VectorCopy;
  /** The vectors in memory by model, filled by the first recall and kept up to date from then on. */
  #loaded = new Map<string, VectorTable>();
  /** The models of all vectors that there were since the object is awake; not known before the first write. */
  #used: Set<string> | undefined;

  constructor(sql: SqlStorage, copy: VectorCopy) {
    this.#sql = sql;
    this.#copy = copy;
  }

  put(
    n: number,
    { model, dimensions }: Pick<Embedder, "model" | "dimensions">,
    vector: NonNullable<Vector>,
  ): void {
    if (vector.length !== dimensions) throw new Error(`a vector of ${model} has ${vector.length} dimensions`);
    this.#used ??= new Set(this.models());
    // Only where there are several models can the vector of another one stand in the place.
    if (this.#used.add(model).size > 1) this.#removeWhere("n = ? AND model <> ?", n, model);
    const quantised = quantise(vector);
    this.#sql.exec(
      "INSERT OR REPLACE INTO vectors (n, model, scale, data) VALUES (?, ?, ?, ?)",
      n,
      model,
      quantised.scale,
      quantised.data,
    );
    this.#hold(model, n, quantised);
    this.#copy.put(n, model);
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
    this.#hold(row.model, to, { data: new Int8Array(row.data), scale: row.scale });
    this.#copy.put(to, row.model);
    return true;
  }

  removeRange(from: number, to: number): void {
    this.#removeWhere("n BETWEEN ? AND ?", from, to);
  }

  removeAll(numbers: readonly number[]): void {
    this.#removeWhere("n IN (SELECT value FROM json_each(?))", JSON.stringify(numbers));
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

  numbersBelow(n: number, model: string): number[] {
    return this.#sql
      .exec<{ n: number }>("SELECT n FROM vectors WHERE n < ? AND model = ?", n, model)
      .toArray()
      .map((row) => row.n);
  }

  /** The vectors of these documents that are of the model. */
  read(model: string, numbers: readonly number[]): { n: number; values: Float32Array }[] {
    return this.#sql
      .exec<VectorRow>(
        "SELECT n, scale, data FROM vectors WHERE model = ? AND n IN (SELECT value FROM json_each(?))",
        model,
        JSON.stringify(numbers),
      )
      .toArray()
      .map(({ n, scale, data }) => ({ n, values: Float32Array.from(new Int8Array(data), (x) => x * scale) }));
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

  /** A table without room is read anew by the next recall, the newest first. */
  #hold(model: string, n: number, vector: Quantised): void {
    if (this.#loaded.get(model)?.set(n, vector) === false) this.#loaded.delete(model);
  }

  #removeWhere(condition: string, ...bindings: (string | number)[]): void {
    const gone = this.#sql
      .exec<VectorName>(`DELETE FROM vectors WHERE ${condition} RETURNING n, model`, ...bindings)
      .toArray();
    if (gone.length === 0) return;
    for (const { n, model } of gone) this.#loaded.get(model)?.delete(n);
    this.#copy.remove(gone);
  }
}
