import { Sql } from "../../storage/sql.ts";

/** A part that owns, or reads, tables of the object. */
export abstract class SqlStore {
  protected readonly sql: Sql;

  constructor(storage: SqlStorage) {
    this.sql = new Sql(storage);
  }
}
