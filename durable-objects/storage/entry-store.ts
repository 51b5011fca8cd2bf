import { type Precondition, holds } from "../../src/domain/conditions.ts";
import { fail, type Failure, ok, type Result } from "../../src/domain/errors.ts";
import {
  HEAD_BYTES,
  type InParts,
  isPart,
  ownerKeyOf,
  PART,
  partsIn,
  partsUnder,
} from "../../src/domain/entry-parts.ts";
import { newVersion } from "../../src/domain/ids.ts";
import { limits } from "../../src/domain/limits.ts";
import type { WrittenEntry } from "../../src/domain/schema/entry.ts";
import { ExpirySweep } from "./expiry-sweep.ts";
import { inline } from "./inline.ts";
import type { Entry, EntryPage, EntryWrite, ListedEntry } from "../../src/contract/storage.ts";

type Row = {
  key: string;
  value: ArrayBuffer;
  version: string;
  updated_at: number;
  expires_at: number | null;
  refresh_ms: number | null;
};

/** An entry as an export and an import have it. `refreshMs`: every read lets it live so long from then on. */
type StoredEntry = Entry & { refreshMs: number | null };

/** Entries that one statement of an export reads. */
const SLICE = 256;

export const entrySchema = `
  CREATE TABLE entries (
    key TEXT PRIMARY KEY,
    value BLOB NOT NULL,
    version TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    expires_at INTEGER,
    refresh_ms INTEGER
  );
  CREATE INDEX entries_by_expiry ON entries (expires_at) WHERE expires_at IS NOT NULL;
`;

/**
 * Keys, JSON values and expiry in an object's SQLite. An entry is alive while `now <= expiresAt`. A value in parts
 * (src/domain/entry-parts.ts) is replaced, deleted and expires as a whole, in the transaction of its entry; no list shows parts.
 */
export class EntryStore {
  readonly expirySweep: ExpirySweep;
  readonly #sql: SqlStorage;

  constructor(object: DurableObjectState) {
    this.#sql = object.storage.sql;
    this.expirySweep = new ExpirySweep(object, "entries");
  }

  get(key: string, now: number): Entry | null {
    const row = this.#live(key, now);
    if (row === null) return null;
    if (row.refresh_ms !== null) {
      row.expires_at = now + row.refresh_ms;
      this.#sql.exec("UPDATE entries SET expires_at = ? WHERE key = ?", row.expires_at, key);
      const parts = partsNamedIn(row.value);
      if (parts !== null) this.#expireParts(key, parts, row.expires_at);
    }
    return entryOf(row);
  }

  /** Gets and deletes. The parts of the value stay for as long as its reader needs to fetch them. */
  take(key: string, now: number): Entry | null {
    const entry = this.get(key, now);
    if (entry === null) return null;
    const parts = partsNamedIn(entry.value);
    if (parts === null) this.delete(key, {}, now);
    else {
      this.#sql.exec("DELETE FROM entries WHERE key = ?", key);
      this.#expireParts(key, parts, Math.min(entry.expiresAt ?? Infinity, now + TAKEN_PARTS_MS));
    }
    return entry;
  }

  /** Replaces the value and the expiry, if the condition holds. */
  set({ key, value, ttlMs, refreshOnRead, condition }: EntryWrite, now: number): Result<WrittenEntry> {
    const unmet = this.#unmet(key, condition, now);
    if (unmet !== null) return unmet;
    const version = newVersion();
    const expiresAt = this.#expiryOf(key, ttlMs, now);
    const parts = partsNamedIn(value);
    if (parts !== null && this.#countParts(key, parts, now) !== parts.count)
      return fail("parts_missing", {
        details: [{ path: "body", message: "names parts that are not there" }],
      });
    const before = this.#partsOf(key);
    // The value that is there already, without an expiry, is left as it is; but of two conditional writes only one succeeds.
    const written = this.#sql.exec(
      `INSERT INTO entries (key, value, version, updated_at, expires_at, refresh_ms)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6)
       ON CONFLICT (key) DO UPDATE SET
         value = ?2, version = ?3, updated_at = ?4, expires_at = ?5, refresh_ms = ?6
       WHERE ?7 OR ?5 IS NOT NULL OR expires_at IS NOT NULL OR refresh_ms IS NOT NULL OR value <> ?2`,
      key,
      value,
      version,
      now,
      expiresAt,
      refreshOnRead && !isPart(key) ? ttlMs : null,
      isConditional(condition) ? 1 : 0,
    );
    if (before !== null && before.cairnParts !== parts?.cairnParts)
      this.#removeUnder(partsUnder(key, before.cairnParts));
    if (parts !== null) this.#expireParts(key, parts, expiresAt);
    if (written.rowsWritten === 0) return ok({ version: this.version(key) ?? version });
    return ok({ version, ...(expiresAt !== null && { expiresAt }) });
  }

  /** True if there was a live entry to delete, if the condition holds. */
  delete(key: string, condition: Precondition, now: number): Result<boolean> {
    const unmet = this.#unmet(key, condition, now);
    if (unmet !== null) return unmet;
    const live = this.#live(key, now) !== null;
    this.remove(key);
    return ok(live);
  }

  /** Deletes an entry and all of its parts, whatever there is of them. */
  remove(key: string): void {
    this.#sql.exec("DELETE FROM entries WHERE key = ?", key);
    if (!isPart(key)) this.#removeUnder(key + PART);
  }

  /** The version of an entry, alive or not; null of none. */
  version(key: string): string | null {
    const [row] = this.#sql
      .exec<{ version: string }>("SELECT version FROM entries WHERE key = ?", key)
      .toArray();
    return row?.version ?? null;
  }

  /** True for a key of no part, and for the key of a part that its entry names. */
  names(key: string): boolean {
    const owner = ownerKeyOf(key);
    const parts = owner === key ? null : this.#partsOf(owner);
    return owner === key || (parts !== null && key.startsWith(partsUnder(owner, parts.cairnParts)));
  }

  /** The live entries from a key on, parts among them, in byte order of their keys, read some at a time. */
  *from({ key, included }: { key: string; included: boolean }, now: number): Generator<StoredEntry> {
    for (let [from, behind] = [key, included ? ">=" : ">"]; ; behind = ">") {
      const rows = this.#sql
        .exec<Omit<Row, "value"> & { value: ArrayBuffer | null }>(
          `SELECT key, ${inline("value")}, version, updated_at, expires_at, refresh_ms FROM entries
           WHERE key ${behind} ? AND (expires_at IS NULL OR expires_at >= ?) ORDER BY key LIMIT ${SLICE}`,
          from,
          now,
        )
        .toArray();
      for (const row of rows) {
        from = row.key;
        const value = row.value ?? this.#value(row.key);
        yield { ...entryOf({ ...row, value }), refreshMs: row.refresh_ms };
      }
      if (rows.length < SLICE) return;
    }
  }

  /** Puts an entry as it was elsewhere; false if there is one already. */
  restore(
    {
      key,
      value,
      version,
      updatedAt,
      expiresAt,
      refreshMs,
    }: Pick<Entry, "key" | "value" | "version" | "updatedAt"> & Partial<StoredEntry>,
    now: number,
  ): boolean {
    this.#sql.exec("DELETE FROM entries WHERE key = ? AND expires_at < ?", key, now);
    const parts = this.#partsOf(key);
    // The value was replaced while it was exported: the export has its entry again, with the parts that follow.
    if (parts !== null && this.#countParts(key, parts, now) < parts.count) this.remove(key);
    const written = this.#sql.exec(
      `INSERT OR IGNORE INTO entries (key, value, version, updated_at, expires_at, refresh_ms) VALUES (?, ?, ?, ?, ?, ?)
       RETURNING 1`,
      key,
      value,
      version,
      updatedAt,
      expiresAt ?? null,
      refreshMs ?? null,
    );
    return written.toArray().length > 0;
  }

  /** Deletes every entry under the prefix, and answers how many were alive. */
  deletePrefix(prefix: string, now: number): number {
    const live = this.count(prefix, now);
    this.#removeUnder(prefix);
    return live;
  }

  /** Live entries under the prefix. Reads each of their keys. */
  count(prefix: string, now: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT COUNT(*) AS n FROM entries WHERE ${UNDER_PREFIX} AND (expires_at IS NULL OR expires_at >= ?) AND ${NO_PART}`,
        ...prefixRange(prefix),
        now,
        shown(prefix),
      )
      .one().n;
  }

  /** A page of live entries in byte order of their keys; `more` when there are further ones behind it. */
  list({ prefix, after, limit, values }: EntryPage, now: number): { entries: ListedEntry[]; more: boolean } {
    const entries: ListedEntry[] = [];
    let bytes = 0;
    // A range of the primary key: its cost follows the page, not the store.
    const rows = this.#sql
      .exec<Omit<Row, "value"> & { value?: ArrayBuffer | null; bytes?: number }>(
        `SELECT key, version, updated_at, expires_at${values ? `, ${inline("value")}, length(value) AS bytes` : ""}
         FROM entries
         WHERE ${after === undefined ? UNDER_PREFIX : BEHIND_CURSOR} AND (expires_at IS NULL OR expires_at >= ?)
           AND ${NO_PART} ORDER BY key LIMIT ?`,
        after ?? prefix,
        prefixRange(prefix)[1],
        now,
        shown(prefix),
        // One row more than the limit, to know whether there are more.
        limit + 1,
      )
      .toArray();
    for (const { key, version, updated_at: updatedAt, expires_at: expiresAt, ...row } of rows) {
      bytes += row.bytes ?? 0;
      if (entries.length === limit || (entries.length > 0 && bytes > limits.pageBytes))
        return { entries, more: true };
      const value = values ? { value: new Uint8Array(row.value ?? this.#value(key)) } : {};
      entries.push({ key, version, updatedAt, expiresAt, ...value });
    }
    return { entries, more: false };
  }

  #value(key: string): ArrayBuffer {
    return this.#sql.exec<Pick<Row, "value">>("SELECT value FROM entries WHERE key = ?", key).one().value;
  }

  #live(key: string, now: number): Row | null {
    const [row] = this.#sql
      .exec<Row>("SELECT * FROM entries WHERE key = ? AND (expires_at IS NULL OR expires_at >= ?)", key, now)
      .toArray();
    return row ?? null;
  }

  /** A part expires with the entry that names it, and within an hour while none does. */
  #expiryOf(key: string, ttlMs: number | null, now: number): number | null {
    if (!isPart(key)) return ttlMs === null ? null : now + ttlMs;
    const unnamed = now + Math.min(ttlMs ?? Infinity, UNNAMED_PART_MS);
    if (!this.names(key)) return unnamed;
    const { at } = this.#sql
      .exec<{ at: number | null }>("SELECT expires_at AS at FROM entries WHERE key = ?", ownerKeyOf(key))
      .one();
    return at !== null && at < now ? unnamed : at;
  }

  /** The parts that the entry under this key names, alive or not. */
  #partsOf(key: string): InParts | null {
    const [row] = this.#sql
      .exec<{
        value: ArrayBuffer;
      }>("SELECT value FROM entries WHERE key = ? AND length(value) < ?", key, HEAD_BYTES)
      .toArray();
    return row === undefined ? null : partsNamedIn(row.value);
  }

  #countParts(key: string, { cairnParts }: InParts, now: number): number {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT COUNT(*) AS n FROM entries WHERE ${UNDER_PREFIX} AND (expires_at IS NULL OR expires_at >= ?)`,
        ...prefixRange(partsUnder(key, cairnParts)),
        now,
      )
      .one().n;
  }

  #expireParts(key: string, { cairnParts }: InParts, expiresAt: number | null): void {
    this.#sql.exec(
      `UPDATE entries SET expires_at = ?3, refresh_ms = NULL WHERE ${UNDER_PREFIX}`,
      ...prefixRange(partsUnder(key, cairnParts)),
      expiresAt,
    );
  }

  #removeUnder(prefix: string): void {
    this.#sql.exec(`DELETE FROM entries WHERE ${UNDER_PREFIX}`, ...prefixRange(prefix));
  }

  #unmet(key: string, condition: Precondition, now: number): Failure | null {
    if (!isConditional(condition)) return null;
    const version = this.#live(key, now)?.version ?? null;
    if (holds(condition, version)) return null;
    const is = version === null ? "there is no such entry" : `its version is "${version}"`;
    return fail("precondition_failed", { message: `The entry does not meet the condition: ${is}.` });
  }
}

const isConditional = ({ ifMatch, ifNoneMatch }: Precondition): boolean =>
  ifMatch !== undefined || ifNoneMatch !== undefined;

/**
 * The keys under a prefix, as a range that SQLite seeks to at both ends; the second bound is null where there is no key
 * behind them, and then a blob, which sorts behind all text.
 */
export const UNDER_PREFIX = "key >= ?1 AND key < COALESCE(?2, x'')";
/** The same from a key on that lies under it. SQLite seeks to one lower bound only, so there is no other. */
export const BEHIND_CURSOR = "key > ?1 AND key < COALESCE(?2, x'')";

/** No key of a part, unless the last binding says that parts are asked for. */
const NO_PART = `(? OR instr(key, char(31) || 'part' || char(31)) = 0)`;
/** 1 if the prefix asks for parts, else 0. */
const shown = (prefix: string): number => Number(prefix.includes(PART));
/** Lifetime of a part that no entry names, in milliseconds. */
const UNNAMED_PART_MS = 60 * 60 * 1000;
/** Lifetime of parts after their entry was taken, in milliseconds. */
const TAKEN_PARTS_MS = 10 * 60 * 1000;

/** The prefix, and the least string behind all that begin with it: its last character that has a next one, raised. */
export function prefixRange(prefix: string): [from: string, to: string | null] {
  const characters = Array.from(prefix);
  for (let last = characters.pop(); last !== undefined; last = characters.pop()) {
    const code = last.codePointAt(0) ?? 0;
    if (code === LAST_CODE_POINT) continue;
    // Surrogates are no characters, and UTF-8 has no bytes for them.
    const next = code + 1 === FIRST_SURROGATE ? AFTER_SURROGATES : code + 1;
    return [prefix, characters.join("") + String.fromCodePoint(next)];
  }
  return [prefix, null];
}

const LAST_CODE_POINT = 0x10ffff;
const FIRST_SURROGATE = 0xd800;
const AFTER_SURROGATES = 0xe000;

/** The parts that a value names; null of a value itself. Only short ones are parsed. */
export function partsNamedIn(value: ArrayBuffer | Uint8Array): InParts | null {
  if (value.byteLength >= HEAD_BYTES) return null;
  const json = new TextDecoder().decode(value);
  return json.includes("cairnParts") ? partsIn(JSON.parse(json)) : null;
}

const entryOf = (row: Row): Entry => ({
  key: row.key,
  value: new Uint8Array(row.value),
  version: row.version,
  updatedAt: row.updated_at,
  expiresAt: row.expires_at,
});
