import { getTableColumns, sql, type SQL } from "drizzle-orm";
import { byteLength } from "../limits.ts";
import { memories, type MemoryRow } from "./tables.ts";

const columns = Object.entries(getTableColumns(memories));
const list = (of: (name: string) => SQL) =>
  sql.join(
    columns.map(([, { name }]) => of(name)),
    sql`, `,
  );
const quoted = (name: string): SQL => sql.raw(`"${name}"`);

/** One owner's rows as the JSON that `upsertRows` takes, in pieces of at most 1 MB: a value of D1 has 2 MB. */
export function rowPieces(rows: readonly MemoryRow[]): string[] {
  const pieces: string[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    const json = JSON.stringify(
      Object.fromEntries(columns.map(([key, column]) => [column.name, driverValue(row, key, column)])),
    );
    const size = byteLength(json);
    if (bytes + size > PIECE) {
      pieces.push([]);
      bytes = 0;
    }
    pieces.at(-1)?.push(json);
    bytes += size;
  }
  return pieces.map((piece) => `[${piece.join(",")}]`);
}

const PIECE = 1_000_000;

function driverValue(row: MemoryRow, key: string, column: (typeof columns)[number][1]): unknown {
  // The keys are those of the table.
  const value = row[key as keyof MemoryRow];
  return value === null ? null : column.mapToDriverValue(value);
}

/**
 * Puts many rows by one statement of few parameters, since D1 counts statements and takes 100 parameters in each. The
 * owner is bound apart: a user's id may hold U+0000, which ends a text that SQLite takes out of JSON.
 */
export const upsertRows = (piece: string, owner: { hash: string; id: string }, condition: SQL): SQL =>
  sql`INSERT INTO ${memories} (${list(quoted)})
    SELECT ${list((name) =>
      name === "user_hash"
        ? sql`${owner.hash}`
        : name === "user_id"
          ? sql`${owner.id}`
          : sql.raw(`value ->> '$.${name}'`),
    )}
    FROM json_each(${piece}) WHERE ${condition}
    ON CONFLICT (user_hash, id, version) DO UPDATE SET ${list((name) => sql.raw(`"${name}" = excluded."${name}"`))}`;
