import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";

type Value = string | number | null;

/** The calls of a store in one database: by Drizzle, or by statements as text. All of them reject when D1 does not answer. */
export class D1Store {
  protected readonly database: D1Database;
  protected readonly db: DrizzleD1Database;

  constructor(database: D1Database) {
    this.database = database;
    this.db = drizzle(database);
  }

  protected prepare(text: string, ...values: Value[]): D1PreparedStatement {
    return this.database.prepare(text).bind(...values);
  }

  /** Several statements with the same values, for a batch. */
  protected prepareAll(texts: readonly string[], ...values: Value[]): D1PreparedStatement[] {
    return texts.map((text) => this.prepare(text, ...values));
  }

  protected async rows<Row>(text: string, ...values: Value[]): Promise<Row[]> {
    return (await this.prepare(text, ...values).all<Row>()).results;
  }

  protected async run(text: string, ...values: Value[]): Promise<void> {
    await this.prepare(text, ...values).run();
  }

  /** The first row, or null. */
  protected row<Row>(text: string, ...values: Value[]): Promise<Row | null> {
    return this.prepare(text, ...values).first<Row>();
  }
}
