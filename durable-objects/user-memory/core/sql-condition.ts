import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import type { SqlPart } from "../../storage/sql.ts";

const dialect = new SQLiteSyncDialect();

/** A condition, or a statement that selects, as the object's storage takes it. */
export type SqlCondition = { sql: string; bindings: (string | number)[] };

export function toSqlCondition(condition: SQL | undefined): SqlCondition {
  if (condition === undefined) return { sql: "TRUE", bindings: [] };
  const { sql, params } = dialect.sqlToQuery(condition);
  // The conditions bind nothing but text and numbers.
  return { sql, bindings: params as (string | number)[] };
}

/**
 * SQL of the rows of a table whose column has one of the values of a JSON array, a binding; a value that is there twice has its
 * row twice. `IN` would read three rows for each value instead of two.
 */
export const chosenFrom = (table: string, column: string): string =>
  `(SELECT value AS chosen FROM json_each(?)) CROSS JOIN ${table} ON ${column} = chosen`;

/** The one of these statements that selects the fewest rows, if these are `most` at most; null otherwise. */
export function narrowest<Select extends SqlPart>(
  sql: SqlStorage,
  selects: readonly Select[],
  most: number,
): Select | null {
  let best: Select | null = null;
  let fewest = most;
  for (const select of selects) {
    const { rows } = sql
      .exec<{ rows: number }>(
        `SELECT COUNT(*) AS "rows" FROM (${select.sql} LIMIT ?)`,
        ...select.bindings,
        fewest + 1,
      )
      .one();
    if (rows > fewest) continue;
    fewest = rows;
    best = select;
  }
  return best;
}

/** The values of a statement's only column. */
export const columnOf = <T extends string | number>(
  sql: SqlStorage,
  statement: string,
  ...bindings: (string | number)[]
): T[] => Array.from(sql.exec(statement, ...bindings).raw<[T]>(), ([value]) => value);
