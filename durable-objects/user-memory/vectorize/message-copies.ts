import type { UserHash } from "../../../src/domain/ids.ts";

/** The models whose vectors of messages the large index has, or is to have. Owns the SQL of `message_copies`. */
export class MessageCopies {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** The models that messages have copies of. */
  models(): string[] {
    const some = this.#sql.exec<{ model: string }>("SELECT model FROM message_copies WHERE ended = 0");
    return some.toArray().map(({ model }) => model);
  }

  /** The same, and those that they are not to have copies of any more. */
  allModels(): string[] {
    const all = this.#sql.exec<{ model: string }>("SELECT model FROM message_copies");
    return all.toArray().map(({ model }) => model);
  }

  /** From now on messages have copies. Whose they are is noted, as the threads may go before their copies do. */
  begin(model: string, owner: UserHash | null): void {
    if (owner === null) return;
    this.#sql.exec(
      "INSERT INTO message_copies (model, owner) VALUES (?, ?) ON CONFLICT (model) DO UPDATE SET ended = 0",
      model,
      owner,
    );
  }

  /** No message is to have a copy from now on. Answers of which models they had some. */
  end(): string[] {
    return this.#sql
      .exec<{ model: string }>("UPDATE message_copies SET ended = 1 WHERE ended = 0 RETURNING model")
      .toArray()
      .map(({ model }) => model);
  }

  /** Whose messages they are; null if none ever had a copy. */
  owner(): UserHash | null {
    const [row] = this.#sql.exec<{ owner: UserHash }>("SELECT owner FROM message_copies LIMIT 1").toArray();
    return row?.owner ?? null;
  }
}
