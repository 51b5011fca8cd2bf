import type { SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";

const dialect = new SQLiteSyncDialect();

/** A condition as the object's storage takes it. */
export type SqlCondition = { sql: string; bindings: (string | number)[] };

export function toSqlCondition(condition: SQL | undefined): SqlCondition {
  if (condition === undefined) return { sql: "TRUE", bindings: [] };
  const { sql, params } = dialect.sqlToQuery(condition);
  // The conditions bind nothing but text and numbers.
  return { sql, bindings: params as (string | number)[] };
}
