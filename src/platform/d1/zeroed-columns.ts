import { getTableColumns } from "drizzle-orm";
import { memories } from "../../domain/memory/table.ts";

/**
 * The `SET` of an update before a delete: as many zeros as each column has bytes. SQLite writes a row of the same size in
 * place. A delete alone leaves the bytes in the file, and neither D1 nor an object allows `secure_delete`.
 */
export const zeroedColumns = (columns: readonly string[]): string =>
  columns
    .map((column) => `${column} = ${INDEXED_JSON.has(column) ? blankJson(column) : zeros(column)}`)
    .join(", ");

const zeros = (column: string): string => `zeroblob(octet_length(${column}))`;
/** Columns of which an index of the object's table reads a field. They stay JSON, a string of spaces of the same size. */
const INDEXED_JSON: ReadonlySet<string> = new Set(["metadata", "provenance"]);
const blankJson = (column: string): string =>
  `iif(${column} IS NULL, NULL, printf('"%*s"', octet_length(${column}) - 2, ''))`;

/** The columns of D1's tables with personal data: no index of D1 has one. An object's `memories` has indexes of some. */
export const PERSONAL_COLUMNS = {
  memories: Object.values(getTableColumns(memories))
    .filter((column) => column.getSQLType() === "text")
    .map(({ name }) => name)
    .filter((name) => !["user_hash", "id", "kind", "status"].includes(name)),
  threads: ["user_id", "title", "agent", "resource_slug", "record_id", "metadata"],
  users: ["user_id"],
  sign_ins: ["value", "metadata"],
};

type PersonalTable = keyof typeof PERSONAL_COLUMNS;

/** Rows that one statement deletes where all of a user's go. */
export const SLICE = 1000;

/** The statements that remove rows of a table of D1, one after the other. */
export const removal = (table: PersonalTable, where: string): [string, string] => [
  `UPDATE ${table} SET ${zeroedColumns(PERSONAL_COLUMNS[table])} WHERE ${where}`,
  `DELETE FROM ${table} WHERE ${where}`,
];

/** `remove`: the statements that remove a slice of the rows. `exist`: selects as `n` whether there are any. */
export const oldRows = (table: PersonalTable, where: string) => ({
  remove: removal(table, `rowid IN (SELECT rowid FROM ${table} WHERE ${where} LIMIT ${SLICE})`),
  exist: `SELECT EXISTS (SELECT 1 FROM ${table} WHERE ${where}) AS n`,
});
