import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { part, raw, Sql, SqlPart } from "../../storage/sql.ts";

const dialect = new SQLiteSyncDialect();

/** A condition of drizzle as a part of a statement of the object. */
export function toSqlCondition(condition: SQL | undefined): SqlPart {
  if (condition === undefined) return raw("TRUE");
  const { sql, params } = dialect.sqlToQuery(condition);
  // The conditions bind nothing but text and numbers.
  return new SqlPart(sql, params as (string | number)[]);
}

/**
 * The rows of a table whose column has one of these values; a value that is there twice has its row twice. `IN` would read three
 * rows for each value instead of two.
 */
export const chosenFrom = (table: string, column: string, values: readonly (string | number)[]): SqlPart =>
  part`(SELECT value AS chosen FROM json_each(${JSON.stringify(values)}))
    CROSS JOIN ${raw(table)} ON ${raw(column)} = chosen`;

/** The one of these statements that selects the fewest rows, if these are `most` at most; null otherwise. */
export function narrowest<Select extends SqlPart>(
  sql: SqlStorage,
  selects: readonly Select[],
  most: number,
): Select | null {
  let best: Select | null = null;
  let fewest = most;
  for (const select of selects) {
    const rows = new Sql(sql).value<number>`SELECT COUNT(*) FROM (${select} LIMIT ${fewest + 1})`;
    if (rows > fewest) continue;
    fewest = rows;
    best = select;
  }
  return best;
}
