import { getTableColumns } from "drizzle-orm";
import { byteLength } from "../../domain/limits.ts";
import { memories, type MemoryRow } from "../../domain/memory/table.ts";

/** The columns of `memories`: field of the row, name in SQL, and true for JSON. */
const columns = Object.entries(getTableColumns(memories)).map(([field, { name, dataType }]) => ({
  // The fields are those of the table.
  field: field as keyof MemoryRow,
  name,
  json: dataType === "json",
}));

/** A row as SQLite gives it. */
export type StoredRow = Record<string, SqlStorageValue>;

/** By hand: for hundreds of rows, a query builder takes several times as long as the query. */
export function rowOf(stored: StoredRow): MemoryRow {
  const row: Record<string, unknown> = {};
  for (const { field, name, json } of columns) {
    const value = stored[name];
    row[field] = json && typeof value === "string" ? (JSON.parse(value) as unknown) : value;
  }
  // The columns are those of the table.
  return row as MemoryRow;
}

/**
 * One owner's rows as the JSON that `upsertRows` takes, in pieces of at most 1 MB: a value of D1 has 2 MB. `more` computes
 * the columns that only one of the tables has; null is NULL.
 */
export function rowPieces(
  rows: readonly MemoryRow[],
  more: Readonly<Record<string, (row: MemoryRow) => string | number | null>>,
): string[] {
  const pieces: string[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    const stored: Record<string, unknown> = {};
    for (const { field, name, json } of columns) {
      const value = row[field];
      // An absent member becomes NULL.
      if (value !== null) stored[name] = json ? JSON.stringify(value) : value;
    }
    for (const [name, of] of Object.entries(more)) stored[name] = of(row);
    const piece = JSON.stringify(stored);
    const size = byteLength(piece);
    if (bytes + size > PIECE) {
      pieces.push([]);
      bytes = 0;
    }
    pieces.at(-1)?.push(piece);
    bytes += size;
  }
  return pieces.map((piece) => `[${piece.join(",")}]`);
}

const PIECE = 1_000_000;

/**
 * Follows `INSERT INTO` and the table's name. One statement puts many rows: D1 counts statements, and takes 100 parameters
 * in each. ?1 is the owner's hash, ?2 the owner's id, ?3 a piece. The id may hold U+0000, which ends a text that SQLite
 * takes out of JSON. `LIMIT -1` makes SQLite parse each row once, not once per column: eight times as fast. `key`: the primary key;
 * `more`: the columns that only this table has.
 */
export function upsertRows(condition: string, key: string, more: readonly string[]): string {
  const names = [...columns.map(({ name }) => name), ...more];
  const list = (of: (name: string) => string): string => names.map(of).join(", ");
  return `(${list((name) => name)})
   SELECT ${list((name) => (name === "user_hash" ? "?1" : name === "user_id" ? "?2" : `row ->> '$.${name}'`))}
   FROM (SELECT jsonb(value) AS row FROM json_each(?3) LIMIT -1) WHERE ${condition}
   ON CONFLICT (${key}) DO UPDATE SET ${list((name) => `${name} = excluded.${name}`)}`;
}
