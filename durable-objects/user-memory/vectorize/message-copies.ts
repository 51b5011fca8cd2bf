import type { UserHash } from "../../../src/domain/ids.ts";
import { SqlStore } from "../core/sql-store.ts";

/** The models whose vectors of messages are mirrored to Vectorize. Owns the SQL of `message_copies`. */
export class MessageCopies extends SqlStore {
  models(): string[] {
    return this.column("SELECT model FROM message_copies WHERE ended = 0");
  }

  /** Including those whose copies are being removed. */
  allModels(): string[] {
    return this.column("SELECT model FROM message_copies");
  }

  /** Begins to copy messages. Stores the owner, as the threads may go before their copies do. */
  begin(model: string, owner: UserHash | null): void {
    if (owner === null) return;
    this.exec(
      "INSERT INTO message_copies (model, owner) VALUES (?, ?) ON CONFLICT (model) DO UPDATE SET ended = 0",
      [model, owner],
    );
  }

  /** Ends the copying. Returns the models that messages have copies of. */
  end(): string[] {
    return this.column("UPDATE message_copies SET ended = 1 WHERE ended = 0 RETURNING model");
  }

  /** Null if no message ever had a copy. */
  owner(): UserHash | null {
    return this.row<{ owner: UserHash }>("SELECT owner FROM message_copies LIMIT 1")?.owner ?? null;
  }
}
