import type { StoredThread } from "./thread-store.ts";

type Numbered = Pick<StoredThread, "n">;

/**
 * The threads that an import has begun and is to go on with. Owns the SQL of `importing_threads`. What is taken out of such
 * a thread ends its import: sent again, that would bring it back.
 */
export class ImportingThreads {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  begin({ n }: Numbered): void {
    this.#sql.exec("INSERT INTO importing_threads (n) VALUES (?)", n);
  }

  has({ n }: Numbered): boolean {
    return this.#sql.exec("SELECT 1 FROM importing_threads WHERE n = ?", n).toArray().length > 0;
  }

  /** All of it has come. */
  finish({ n }: Numbered): void {
    this.#sql.exec("DELETE FROM importing_threads WHERE n = ?", n);
  }

  /** Nothing more of the thread is taken in; nor of those that are gone. Reads all that are open. */
  end({ n }: Numbered): void {
    this.#sql.exec("DELETE FROM importing_threads WHERE n = ? OR n NOT IN (SELECT n FROM threads)", n);
  }
}
