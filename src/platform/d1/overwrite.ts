import { getTableColumns } from "drizzle-orm";
import { memories } from "../../domain/memory/table.ts";

/**
 * For the `SET` of an update that goes before a delete: as many zeros as each column has bytes. SQLite writes a row of the same size
 * in the place of the old one; the delete alone would leave that in the file, and neither D1 nor an object allows `secure_delete`.
 */
export const overwritten = (columns: readonly string[]): string =>
  columns.map((column) => `${column} = ${column === "metadata" ? BLANK_JSON : zeros(column)}`).join(", ");

const zeros = (column: string): string => `zeroblob(octet_length(${column}))`;
/** Metadata stay JSON, since an index of an object's table reads a field of them: a string of spaces, as long as they were. */
const BLANK_JSON = `iif(metadata IS NULL, NULL, printf('"%*s"', octet_length(metadata) - 2, ''))`;

/**
 * The columns of D1's tables that hold what a user said, or who the user is; none of D1's indexes has one of them. An object's table of
 * memories has the same columns, and indexes of some.
 */
export const SAID = {
  memories: Object.values(getTableColumns(memories))
    .filter((column) => column.getSQLType() === "text")
    .map(({ name }) => name)
    .filter((name) => !["user_hash", "id", "kind", "status"].includes(name)),
  threads: ["user_id", "title", "agent", "resource_slug", "record_id", "metadata"],
  users: ["user_id"],
};
