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
import type { WrittenEntry } from "../../src/domain/schema/entry.ts";
import { ExpirySweep } from "./expiry-sweep.ts";
import { keysUnder } from "./key-range.ts";
import { inline, withinPage } from "./page-rows.ts";
import { inSlices, part, raw, SqlStore } from "./sql.ts";
import type { Entry, EntryPage, EntryWrite, ListedEntry } from "../../src/contract/storage.ts";

/** An entry as an export and an import have it. `refreshMs`: every read lets it live so long from then on. */
type StoredEntry = Entry & { refreshMs: number | null };
type Row<Value = ArrayBuffer> = Omit<StoredEntry, "value"> & { value: Value };

/** Entries that one statement of an export reads. */
const SLICE = 256;
/** Lifetime of a part that no entry names, in milliseconds. */
const UNNAMED_PART_MS = 60 * 60 * 1000;
/** Lifetime of parts after their entry was taken, in milliseconds. */
const TAKEN_PARTS_MS = 10 * 60 * 1000;

const TIMES = raw(`version, updated_at AS "updatedAt", expires_at AS "expiresAt"`);
const VALUE = inline("value");
const alive = (now: number) => part`(expires_at IS NULL OR expires_at >= ${now})`;
/** The keys of no part, unless the prefix asks for parts. */
const shownUnder = (prefix: string) =>
  raw(prefix.includes(PART) ? "TRUE" : "instr(key, char(31) || 'part' || char(31)) = 0");

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
export class EntryStore extends SqlStore {
  readonly expirySweep: ExpirySweep;

  constructor(object: DurableObjectState) {
    super(object.storage.sql);
    this.expirySweep = new ExpirySweep(object, "entries");
  }

  get(key: string, now: number): Entry | null {
    const row = this.#live(key, now);
    if (row === undefined) return null;
    const { refreshMs, ...entry } = row;
    if (refreshMs !== null) {
      entry.expiresAt = now + refreshMs;
      this.sql.run`UPDATE entries SET expires_at = ${entry.expiresAt} WHERE key = ${key}`;
      const parts = partsNamedIn(row.value);
      if (parts !== null) this.#expireParts(key, parts, entry.expiresAt);
    }
    return { ...entry, value: new Uint8Array(row.value) };
  }

  /** Gets and deletes. The parts of the value stay for as long as its reader needs to fetch them. */
  take(key: string, now: number): Entry | null {
    const entry = this.get(key, now);
    if (entry === null) return null;
    const parts = partsNamedIn(entry.value);
    if (parts === null) this.delete(key, {}, now);
    else {
      this.sql.run`DELETE FROM entries WHERE key = ${key}`;
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
    const refreshMs = refreshOnRead && !isPart(key) ? ttlMs : null;
    const rowsWritten = this.sql.run`
      INSERT INTO entries (key, value, version, updated_at, expires_at, refresh_ms)
      VALUES (${key}, ${value}, ${version}, ${now}, ${expiresAt}, ${refreshMs})
      ON CONFLICT (key) DO UPDATE SET
        value = excluded.value, version = excluded.version, updated_at = excluded.updated_at,
        expires_at = excluded.expires_at, refresh_ms = excluded.refresh_ms
      WHERE ${isConditional(condition) ? 1 : 0} OR excluded.expires_at IS NOT NULL
        OR entries.expires_at IS NOT NULL OR entries.refresh_ms IS NOT NULL OR entries.value <> excluded.value`;
    if (before !== null && before.cairnParts !== parts?.cairnParts)
      this.#removeUnder(partsUnder(key, before.cairnParts));
    if (parts !== null) this.#expireParts(key, parts, expiresAt);
    if (rowsWritten === 0) return ok({ version: this.version(key) ?? version });
    return ok({ version, ...(expiresAt !== null && { expiresAt }) });
  }

  /** True if there was a live entry to delete, if the condition holds. */
  delete(key: string, condition: Precondition, now: number): Result<boolean> {
    const unmet = this.#unmet(key, condition, now);
    if (unmet !== null) return unmet;
    const live = this.#live(key, now) !== undefined;
    this.remove(key);
    return ok(live);
  }

  /** Deletes an entry and all of its parts, whatever there is of them. */
  remove(key: string): void {
    this.sql.run`DELETE FROM entries WHERE key = ${key}`;
    if (!isPart(key)) this.#removeUnder(key + PART);
  }

  /** The version of an entry, alive or not; null of none. */
  version(key: string): string | null {
    const [version] = this.sql.column<string>`SELECT version FROM entries WHERE key = ${key}`;
    return version ?? null;
  }

  /** True for a key of no part, and for the key of a part that its entry names. */
  names(key: string): boolean {
    const owner = ownerKeyOf(key);
    const parts = owner === key ? null : this.#partsOf(owner);
    return owner === key || (parts !== null && key.startsWith(partsUnder(owner, parts.cairnParts)));
  }

  /** The live entries from a key on, parts among them, in byte order of their keys, read some at a time. */
  from({ key, included }: { key: string; included: boolean }, now: number): IteratorObject<StoredEntry> {
    const rows = inSlices<Row<ArrayBuffer | null>>(SLICE, (last) => {
      const behind = raw(last === undefined && included ? ">=" : ">");
      return this.sql.rows`
        SELECT key, ${VALUE}, ${TIMES}, refresh_ms AS "refreshMs" FROM entries
        WHERE key ${behind} ${last?.key ?? key} AND ${alive(now)} ORDER BY key LIMIT ${SLICE}`;
    });
    return rows.map((row) => ({ ...row, value: new Uint8Array(row.value ?? this.#value(row.key)) }));
  }

  /** Puts an entry as it was elsewhere; false if there is one already. */
  restore(entry: Omit<Entry, "expiresAt"> & Partial<StoredEntry>, now: number): boolean {
    const { key, value, version, updatedAt, expiresAt = null, refreshMs = null } = entry;
    this.sql.run`DELETE FROM entries WHERE key = ${key} AND expires_at < ${now}`;
    const parts = this.#partsOf(key);
    // The value was replaced while it was exported: the export has its entry again, with the parts that follow.
    if (parts !== null && this.#countParts(key, parts, now) < parts.count) this.remove(key);
    return this.sql.has`
      INSERT OR IGNORE INTO entries (key, value, version, updated_at, expires_at, refresh_ms)
      VALUES (${key}, ${value}, ${version}, ${updatedAt}, ${expiresAt}, ${refreshMs}) RETURNING 1`;
  }

  /** Deletes every entry under the prefix, and answers how many were alive. */
  deletePrefix(prefix: string, now: number): number {
    const live = this.count(prefix, now);
    this.#removeUnder(prefix);
    return live;
  }

  /** Live entries under the prefix. Reads each of their keys. */
  count(prefix: string, now: number): number {
    return this.sql.value`
      SELECT COUNT(*) FROM entries WHERE ${keysUnder(prefix)} AND ${alive(now)} AND ${shownUnder(prefix)}`;
  }

  /** A page of live entries in byte order of their keys; `more` when there are further ones behind it. */
  list({ prefix, after, limit, values }: EntryPage, now: number): { entries: ListedEntry[]; more: boolean } {
    // A range of the primary key: its cost follows the page, not the store. One row more tells whether there are more.
    const rows = this.sql.rows<
      Omit<Row, "value" | "refreshMs"> & { value?: ArrayBuffer | null; bytes?: number }
    >`
      SELECT key, ${TIMES} ${values ? part`, ${VALUE}, length(value) AS bytes` : raw("")} FROM entries
      WHERE ${keysUnder(prefix, after)} AND ${alive(now)} AND ${shownUnder(prefix)} ORDER BY key LIMIT ${limit + 1}`;
    const { shown, more } = withinPage(rows, limit);
    const entries = shown.map(({ value, bytes: _bytes, ...entry }): ListedEntry =>
      values ? { ...entry, value: new Uint8Array(value ?? this.#value(entry.key)) } : entry,
    );
    return { entries, more };
  }

  #value(key: string): ArrayBuffer {
    return this.sql.value`SELECT value FROM entries WHERE key = ${key}`;
  }

  #live(key: string, now: number): Row | undefined {
    return this.sql.rows<Row>`
      SELECT key, value, ${TIMES}, refresh_ms AS "refreshMs" FROM entries WHERE key = ${key} AND ${alive(now)}`[0];
  }

  /** A part expires with the entry that names it, and within an hour while none does. */
  #expiryOf(key: string, ttlMs: number | null, now: number): number | null {
    if (!isPart(key)) return ttlMs === null ? null : now + ttlMs;
    const unnamed = now + Math.min(ttlMs ?? Infinity, UNNAMED_PART_MS);
    if (!this.names(key)) return unnamed;
    const at = this.sql.value<number | null>`SELECT expires_at FROM entries WHERE key = ${ownerKeyOf(key)}`;
    return at !== null && at < now ? unnamed : at;
  }

  /** The parts that the entry under this key names, alive or not. */
  #partsOf(key: string): InParts | null {
    const [value] = this.sql.column<ArrayBuffer>`
      SELECT value FROM entries WHERE key = ${key} AND length(value) < ${HEAD_BYTES}`;
    return value === undefined ? null : partsNamedIn(value);
  }

  #countParts(key: string, { cairnParts }: InParts, now: number): number {
    return this.sql.value`
      SELECT COUNT(*) FROM entries WHERE ${keysUnder(partsUnder(key, cairnParts))} AND ${alive(now)}`;
  }

  #expireParts(key: string, { cairnParts }: InParts, expiresAt: number | null): void {
    this.sql.run`
      UPDATE entries SET expires_at = ${expiresAt}, refresh_ms = NULL WHERE ${keysUnder(partsUnder(key, cairnParts))}`;
  }

  #removeUnder(prefix: string): void {
    this.sql.run`DELETE FROM entries WHERE ${keysUnder(prefix)}`;
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

/** The parts that a value names; null of a value itself. Only short ones are parsed. */
export function partsNamedIn(value: ArrayBuffer | Uint8Array): InParts | null {
  if (value.byteLength >= HEAD_BYTES) return null;
  const json = new TextDecoder().decode(value);
  return json.includes("cairnParts") ? partsIn(JSON.parse(json)) : null;
}
