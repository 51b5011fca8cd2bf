import type { Quantised } from "../../../src/platform/vectors/int8.ts";
import { FIRST_POSITION, type PositionRange } from "../core/position.ts";
import { part, raw, type SqlPart, SqlStore } from "../../storage/sql.ts";
import { chosenFrom } from "../core/sql-condition.ts";

/** A document's vector in the space of one model. */
export type VectorName = { n: number; model: string };
export type StoredVector = { n: number; vector: Quantised };
/** The stored row of a document: its vector, or null if it has none, and its word pieces, or null until they are cut. */
type StoredText = { model: string; vector: Quantised | null; pieces: Uint16Array | null };
/** Some rows of a range: the vectors of one model, and the pieces of all, one after the other. */
type Block = { rows: number; vectors: StoredVector[]; pieces: Uint16Array };
/** A value of each column for the whole block, one after the other. */
type BlockRow = {
  rows: number;
  last: number | null;
  numbers: string | null;
  vectors: ArrayBuffer | null;
  pieces: ArrayBuffer | null;
};

/** Rows that one statement reads: 0.5 MB of 1,024 dimensions. */
const BLOCK = 512;
/** A vector is stored as its scale, a float of 32 bits, and its numbers. */
const SCALE_BYTES = 4;

/** The id of a model; null if no document has a vector of it. */
const idOf = (model: string): SqlPart => part`(SELECT id FROM models WHERE name = ${model})`;
/** Selects the numbers of the documents with a vector of the model. */
export const ofModel = (model: string): SqlPart => part`SELECT n FROM vectors WHERE model = ${idOf(model)}`;
/** Selects the numbers of the documents with a row: a vector, or word pieces. */
export const WITH_ROW = raw("SELECT n FROM vectors");
/** Selects the numbers of the documents of a range with a vector. */
export const embeddedIn = ([from, to]: PositionRange): SqlPart =>
  part`SELECT n FROM vectors WHERE n BETWEEN ${from} AND ${to} AND model IS NOT NULL`;
/** SQL of the name of the model of a row of `vectors`, or of a table of the same columns. */
export const MODEL_NAME = "(SELECT name FROM models WHERE id = model)";
const NAME = raw(MODEL_NAME);

/**
 * The stored vectors and word pieces. A document has one row, once it is embedded or found by its words only, and in it the
 * vector of the model that embedded it last. Owns the SQL of `vectors` and `models`.
 */
export class VectorRows extends SqlStore {
  /** Puts or replaces a row. Pieces that are there stay: the text of a document never changes. */
  put(n: number, { model, vector, pieces }: StoredText): void {
    this.sql.run`
      INSERT INTO vectors (n, model, vector, pieces)
      VALUES (${n}, ${idOf(model)}, ${vector && bytesOf(vector)}, ${pieces})
      ON CONFLICT (n) DO UPDATE SET model = excluded.model, vector = excluded.vector,
        pieces = COALESCE(pieces, excluded.pieces)`;
  }

  /** Gives one document the row of another of the same text. Returns its vector and pieces; null if that has no vector. */
  copy(from: number, to: number): (StoredText & { vector: Quantised }) | null {
    const [row] = this.sql.rows<{ model: string; vector: ArrayBuffer; pieces: ArrayBuffer | null }>`
      INSERT OR REPLACE INTO vectors (n, model, vector, pieces)
      SELECT ${to}, model, vector, pieces FROM vectors WHERE n = ${from} AND model IS NOT NULL
      RETURNING ${NAME} AS model, vector, pieces`;
    if (row === undefined) return null;
    const { model, vector, pieces } = row;
    return { model, vector: vectorOf(vector), pieces: pieces && new Uint16Array(pieces) };
  }

  /** The model of a document's vector, and if its pieces are cut; null if it has no row. */
  stateOf(n: number): { model: string | null; hasPieces: boolean } | null {
    const [row] = this.sql.rows<{ model: string | null; cut: number }>`
      SELECT ${NAME} AS model, pieces IS NOT NULL AS cut FROM vectors WHERE n = ${n}`;
    return row === undefined ? null : { model: row.model, hasPieces: row.cut === 1 };
  }

  /** Removes rows. Returns the vectors, and the pieces one after the other. */
  remove(where: SqlPart): { rows: number; vectors: VectorName[]; pieces: Uint16Array[] } {
    const rows = this.sql.rows<{ n: number; model: string | null; pieces: ArrayBuffer | null }>`
      DELETE FROM vectors WHERE ${where} RETURNING n, ${NAME} AS model, pieces`;
    return {
      rows: rows.length,
      vectors: rows.flatMap(({ n, model }) => (model === null ? [] : [{ n, model }])),
      pieces: rows.flatMap(({ pieces }) => (pieces === null ? [] : [new Uint16Array(pieces)])),
    };
  }

  /** Removes the vectors of rows, which keep their pieces. */
  removeVectors(where: SqlPart): VectorName[] {
    const rows = this.sql.rows<VectorName>`
      SELECT n, ${NAME} AS model FROM vectors WHERE ${where} AND model IS NOT NULL`;
    if (rows.length > 0) this.sql.run`UPDATE vectors SET model = NULL, vector = NULL WHERE ${where}`;
    return rows;
  }

  /** The models that documents have, or had, vectors of. */
  models(): string[] {
    return this.sql.column`SELECT name FROM models`;
  }

  addModel(name: string): void {
    this.sql.run`INSERT INTO models (name) VALUES (${name})`;
  }

  /** Forgets the models that no document has a vector of, unless an erasure has still to name some. Reads all rows. */
  removeUnusedModels(): void {
    this.sql.run`
      DELETE FROM models WHERE id NOT IN (SELECT model FROM vectors WHERE model IS NOT NULL)
        AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name GLOB 'erased_[0-9]*_vectors')`;
  }

  hasMessages(model: string): boolean {
    return this.sql.has`
      SELECT 1 FROM vectors WHERE model = ${idOf(model)} AND n >= ${FIRST_POSITION} LIMIT 1`;
  }

  holds(where: SqlPart): boolean {
    return this.sql.has`SELECT 1 FROM vectors WHERE ${where} LIMIT 1`;
  }

  /** The documents of these numbers, both included, that have a vector of the model. */
  numbersBetween([from, to]: PositionRange, model: string): number[] {
    return this.sql.column`
      SELECT n FROM vectors WHERE n BETWEEN ${from} AND ${to} AND model = ${idOf(model)}`;
  }

  /** The vectors of these documents that are of the model. */
  read(model: string, numbers: readonly number[]): StoredVector[] {
    const rows = this.sql.rows<{ n: number; vector: ArrayBuffer }>`
      SELECT n, vector FROM ${chosenFrom("vectors", "n", numbers)} WHERE model = ${idOf(model)}`;
    return rows.map(({ n, vector }) => ({ n, vector: vectorOf(vector) }));
  }

  /** The word pieces of these documents, as far as they are cut. */
  pieces(numbers: readonly number[]): Map<number, Uint16Array> {
    const cut = this.sql.rows<{ n: number; pieces: ArrayBuffer }>`
      SELECT n, pieces FROM ${chosenFrom("vectors", "n", numbers)} WHERE pieces IS NOT NULL`;
    return new Map(cut.map(({ n, pieces }) => [n, new Uint16Array(pieces)]));
  }

  /** Documents whose pieces are still to be cut. */
  withoutPieces(limit: number): number[] {
    return this.sql.column`SELECT n FROM vectors WHERE pieces IS NULL ORDER BY n LIMIT ${limit}`;
  }

  setPieces(n: number, pieces: Uint16Array): void {
    this.sql.run`UPDATE vectors SET pieces = ${pieces} WHERE n = ${n}`;
  }

  /**
   * The rows of a range, the greatest number first. One value holds a column of a whole block: to take each row by itself
   * is three times as slow.
   */
  *blocks([from, to]: PositionRange, model: string): Generator<Block> {
    for (let end = to; ;) {
      const { rows, last, numbers, vectors, pieces } = this.sql.one<BlockRow>`
        SELECT COUNT(*) AS "rows", MIN(n) AS last,
          group_concat(n) FILTER (WHERE model = id) AS numbers,
          CAST(group_concat(vector, '') FILTER (WHERE model = id) AS BLOB) AS vectors,
          CAST(group_concat(pieces, '') AS BLOB) AS pieces
        FROM (SELECT *, ${idOf(model)} AS id FROM vectors WHERE n BETWEEN ${from} AND ${end}
          ORDER BY n DESC LIMIT ${BLOCK})`;
      if (last === null) return;
      yield {
        rows,
        vectors:
          numbers === null || vectors === null ? [] : separated(numbers.split(",").map(Number), vectors),
        pieces: new Uint16Array(pieces ?? new ArrayBuffer(0)),
      };
      if (rows < BLOCK) return;
      end = last - 1;
    }
  }

  /** The vectors of a model in a range, the greatest `most` of them: their number, and the least of these. */
  greatest(model: string, [from, to]: PositionRange, most: number): { count: number; last: number } {
    return this.sql.one`
      SELECT COUNT(*) AS count, ifnull(MIN(n), 0) AS last FROM (
        SELECT n FROM vectors WHERE model = ${idOf(model)} AND n BETWEEN ${from} AND ${to}
        ORDER BY n DESC LIMIT ${most})`;
  }
}

function bytesOf({ scale, data }: Quantised): Uint8Array {
  const bytes = new Uint8Array(SCALE_BYTES + data.length);
  new DataView(bytes.buffer).setFloat32(0, scale, true);
  bytes.set(data, SCALE_BYTES);
  return bytes;
}

const vectorOf = (bytes: ArrayBuffer): Quantised => partOf(new DataView(bytes), 0, bytes.byteLength);

const partOf = (bytes: DataView<ArrayBuffer>, from: number, length: number): Quantised => ({
  scale: bytes.getFloat32(from, true),
  data: new Int8Array(bytes.buffer, from + SCALE_BYTES, length - SCALE_BYTES),
});

/** Vectors of one model have one length. */
function separated(numbers: readonly number[], bytes: ArrayBuffer): StoredVector[] {
  const length = bytes.byteLength / numbers.length;
  if (!Number.isInteger(length)) throw new Error(`${bytes.byteLength} bytes of ${numbers.length} vectors`);
  const view = new DataView(bytes);
  return numbers.map((n, i) => ({ n, vector: partOf(view, i * length, length) }));
}
