import { newVersion } from "../src/ids.ts";
import { limits } from "../src/limits.ts";
import type { WrittenEntry } from "../src/schema/entry.ts";
import { Expiry } from "./expiry.ts";

/** An entry as it leaves the object. `value` is JSON in UTF-8, byte for byte as it came in. */
export type Entry = {
  key: string;
  value: Uint8Array;
  version: string;
  updatedAt: number;
  expiresAt: number | null;
};
/** `ttlMs` null: it never expires. */
export type EntryWrite = { key: string; value: Uint8Array; ttlMs: number | null };
export type EntryPage = { prefix: string; after?: string; limit: number; values: boolean };
export type ListedEntry = Omit<Entry, "value"> & { value?: Uint8Array };

type Row = {
  key: string;
  value: ArrayBuffer;
  version: string;
  updated_at: number;
  expires_at: number | null;
};

export const entrySchema = `
  CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    version TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
`;

/** Keys, JSON values and expiry in an object's SQLite. An entry is alive while `now <= expiresAt`. */
export class EntryStore {
  readonly expiry: Expiry;
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.expiry = new Expiry(sql, "entries");
  }

  get(key: string, now: number): Entry | null {
    const [row] = this.#sql
      .exec<Row>("SELECT * FROM entries WHERE key = ? AND (expires_at IS NULL OR expires_at >= ?)", key, now)
      .toArray();
    return row === undefined ? null : entryOf(row);
  }

  /** Replaces the value and the expiry. */
  set({ key, value, ttlMs }: EntryWrite, now: number): WrittenEntry {
    const version = newVersion();
    const expiresAt = ttlMs === null ? null : now + ttlMs;
    this.#sql.exec(
      `INSERT INTO entries (key, value, version, updated_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (key) DO UPDATE SET value = ?2, version = ?3, updated_at = ?4, expires_at = ?5`,
      key,
      value,
      version,
      now,
      expiresAt,
    );
    return { version, ...(expiresAt !== null && { expiresAt }) };
  }

  /** Removes the entry; with `version`, only if that is its version still. */
  delete(key: string, version?: string): void {
    this.#sql.exec(
      "DELETE FROM entries WHERE key = ?1 AND (?2 IS NULL OR version = ?2)",
      key,
      version ?? null,
    );
  }

  /** A page of live entries in byte order of their keys; `more` when there are further ones behind it. */
  list({ prefix, after, limit, values }: EntryPage, now: number): { entries: ListedEntry[]; more: boolean } {
    const entries: ListedEntry[] = [];
    let bytes = 0;
    // The scan begins at the prefix and is left at the first key without it: its cost follows the page.
    const rows = this.#sql.exec<Row>(
      `SELECT key, ${values ? "value" : "x'' AS value"}, version, updated_at, expires_at FROM entries
       WHERE key >= ?1 AND (?2 IS NULL OR key > ?2) AND (expires_at IS NULL OR expires_at >= ?3)
       ORDER BY key`,
      prefix,
      after ?? null,
      now,
    );
    for (const row of rows) {
      if (!row.key.startsWith(prefix)) break;
      bytes += row.value.byteLength;
      if (entries.length === limit || (entries.length > 0 && bytes > limits.pageBytes))
        return { entries, more: true };
      const { value, ...rest } = entryOf(row);
      entries.push(values ? { ...rest, value } : rest);
    }
    return { entries, more: false };
  }
}

const entryOf = (row: Row): Entry => ({
  key: row.key,
  value: new Uint8Array(row.value),
  version: row.version,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at,
});
