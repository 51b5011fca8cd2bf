import type { UserHash } from "../../../src/domain/ids.ts";
import { SqlStore } from "../../storage/sql.ts";

/** The models whose vectors of messages are mirrored to Vectorize. Owns the SQL of `message_copies`. */
export class MessageCopies extends SqlStore {
  models(): string[] {
    return this.sql.column`SELECT model FROM message_copies WHERE ended = 0`;
  }

  /** Including those whose copies are being removed. */
  allModels(): string[] {
    return this.sql.column`SELECT model FROM message_copies`;
  }

  /** Begins to copy messages. Stores the owner, as the threads may go before their copies do. */
  begin(model: string, owner: UserHash | null): void {
    if (owner === null) return;
    this.sql.run`
      INSERT INTO message_copies (model, owner) VALUES (${model}, ${owner})
      ON CONFLICT (model) DO UPDATE SET ended = 0`;
  }

  /** Ends the copying. Returns the models that messages have copies of. */
  end(): string[] {
    return this.sql.column`UPDATE message_copies SET ended = 1 WHERE ended = 0 RETURNING model`;
  }

  /** Null if no message ever had a copy. */
  owner(): UserHash | null {
    return this.sql.column<UserHash>`SELECT owner FROM message_copies LIMIT 1`[0] ?? null;
  }
}
