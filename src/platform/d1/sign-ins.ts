import { limits } from "../../domain/limits.ts";
import type { UserHash } from "../../domain/ids.ts";
import { withDeadline } from "../deadline.ts";
import { D1Store } from "./d1-store.ts";
import { removal, SLICE } from "./zeroed-columns.ts";

/** A grant of the library, as far as it is read here. */
type Grant = { id: string; clientId: string; scope: string[]; metadata: unknown };
/** Times are in milliseconds. */
export type StoredSignIn = Grant & { createdAt: number; expiresAt: number };
export type ErasedSignIns = { grants: number; tokens: number };

/** Another call changed or deleted the record after this one had read it. */
export class SignInChanged extends Error {
  override readonly name = "SignInChanged";
}

/** D1 does not answer. The message is its own. */
export class SignInsUnavailable extends Error {
  override readonly name = "SignInsUnavailable";
}

const WITHIN_MS = 10_000;

/** The library lets an error through as it is. */
async function answered<T>(work: Promise<T>): Promise<T> {
  try {
    return await withDeadline(work, WITHIN_MS);
  } catch (cause) {
    throw new SignInsUnavailable(String(cause), { cause });
  }
}
/** The library sets an end for all but an app that the operator registers, which Cairn has no call for. */
const NO_END = Number.MAX_SAFE_INTEGER;

const ALIVE = "expires_at > ?2";
/** A token ends with its grant. */
const GRANTED = `(family NOT GLOB 'token:*' OR EXISTS
  (SELECT 1 FROM sign_ins AS granted WHERE granted.key = 'grant:' || substr(sign_ins.family, 7)))`;
const GET = `SELECT value, version FROM sign_ins WHERE key = ?1 AND ${ALIVE} AND ${GRANTED}`;
const INSERT = `INSERT INTO sign_ins (key, family, user_hash, value, metadata, created_at, expires_at)
  SELECT ?1, ?3, ?4, ?5, ?6, ?7, ?8
  WHERE ?2 IS NULL OR EXISTS (SELECT 1 FROM sign_ins WHERE key = ?2) ON CONFLICT (key) DO NOTHING`;
const UPDATE = `UPDATE sign_ins SET value = ?3, metadata = ?4, expires_at = ?5, version = version + 1
  WHERE key = ?1 AND version = ?2`;
const LIST = `SELECT key, metadata FROM sign_ins
  WHERE key >= ?1 AND key < ?3 AND key > ?4 AND ${ALIVE} ORDER BY key LIMIT ?5`;
/** An app that somebody signed in to is not among those that the cron may delete. */
const USED = "UPDATE sign_ins SET family = 'client:used' WHERE key = 'client:' || ?1 AND family = 'client'";
const BEYOND =
  "key IN (SELECT key FROM sign_ins WHERE family = ?1 ORDER BY created_at DESC, key DESC LIMIT ?3 OFFSET ?2)";
const OF_USER = `SELECT value, created_at AS createdAt, expires_at AS expiresAt FROM sign_ins
  WHERE family = ?1 AND ${ALIVE} ORDER BY created_at DESC, key DESC`;

const TRIM = removal("sign_ins", BEYOND);
const REMOVE = removal("sign_ins", "key = ?1");
const REMOVE_SEEN = removal("sign_ins", "key = ?1 AND version = ?2");
const REMOVE_FAMILY = removal("sign_ins", "family = ?1");
const OLD_GRANTS = "user_hash = ?1 AND key GLOB 'grant:*' AND created_at <= ?2";
const LOST_TOKENS = `user_hash = ?1 AND key GLOB 'token:*' AND NOT ${GRANTED}`;
const REMOVE_OLD = removal("sign_ins", OLD_GRANTS);
const REMOVE_LOST = removal("sign_ins", LOST_TOKENS);
const HAS = `SELECT EXISTS (SELECT 1 FROM sign_ins WHERE ${OLD_GRANTS})
  OR EXISTS (SELECT 1 FROM sign_ins WHERE ${LOST_TOKENS}) AS n`;
const PRUNE = removal(
  "sign_ins",
  "rowid IN (SELECT rowid FROM sign_ins WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)",
);

/**
 * The most records of a family of one user. The oldest go first. A record that anybody can add costs D1 the same however many there
 * are: only the cron deletes these.
 */
const mostOf: Partial<Record<string, number>> = { grant: limits.signIns, token: limits.tokensOfSignIn };

/** Owns the SQL of `sign_ins`. */
export class D1SignIns extends D1Store {
  /** The store for the calls of one request. */
  store(now: () => number): SignInStore {
    return new SignInStore(this.database, now);
  }

  /** A user's, the newest first: at most `limits.signIns`. */
  async list(user: UserHash, now: number): Promise<StoredSignIn[]> {
    const rows = this.rows<{ value: string; createdAt: number; expiresAt: number }>(
      OF_USER,
      `grant:${user}`,
      now,
    );
    // The library wrote the value.
    return (await answered(rows)).map(({ value, ...times }) => ({
      ...(JSON.parse(value) as Grant),
      ...times,
    }));
  }

  /** Deletes a sign-in with its tokens. */
  async revoke(user: UserHash, id: string): Promise<void> {
    await this.#run([
      ...this.prepareAll(REMOVE, `grant:${user}:${id}`),
      ...this.prepareAll(REMOVE_FAMILY, `token:${user}:${id}`),
    ]);
  }

  /** Deletes a user's sign-ins up to a time, with all of their tokens. */
  async erase(user: UserHash, upTo: number): Promise<ErasedSignIns> {
    const [, grants = 0, , tokens = 0] = await this.#run([
      ...this.prepareAll(REMOVE_OLD, user, upTo),
      ...this.prepareAll(REMOVE_LOST, user),
    ]);
    return { grants, tokens };
  }

  /** True if such sign-ins are still there. */
  async has(user: UserHash, upTo: number): Promise<boolean> {
    return (await answered(this.row<{ n: number }>(HAS, user, upTo)))?.n !== 0;
  }

  /** Deletes some of what expired by `time`, and of the unused apps beyond their limit; answers how many at least. */
  async prune(time: number, limit: number): Promise<number> {
    const [, ended = 0, , beyond = 0] = await this.#run([
      ...this.prepareAll(PRUNE, time, limit),
      ...this.prepareAll(TRIM, "client", limits.unusedApps, limit),
    ]);
    return Math.max(ended, beyond);
  }

  /** The rows that each statement changed. */
  async #run(statements: D1PreparedStatement[]): Promise<number[]> {
    const done = await answered(this.database.batch(statements));
    return done.map(({ meta }) => meta.changes);
  }
}

/**
 * The grants, tokens and registered apps of people who signed in. The library of OAuth knows KV, whose lists and reads may be a
 * minute old: a receipt could not say that they are gone, and a code could be used twice. D1 has the same calls here. Every method
 * rejects when D1 does not answer.
 */
export type SignIns = Pick<D1SignIns, keyof D1SignIns>;

type PutOptions = { expirationTtl?: number; expiration?: number; metadata?: unknown };
type ListOptions = { prefix: string; limit?: number; cursor?: string };
type Listed = { keys: { name: string; metadata: unknown }[]; list_complete: boolean; cursor?: string };

/**
 * The calls of a KV namespace that the library makes, for one request. A write of a record that this request has read throws
 * `SignInChanged` if another call was first: a code works once, and no refresh brings back an erased grant.
 */
export class SignInStore extends D1Store {
  readonly #now: () => number;
  readonly #seen = new Map<string, number>();

  constructor(database: D1Database, now: () => number) {
    super(database);
    this.#now = now;
  }

  async get(key: string, { type = "text" }: { type?: "text" | "json" } = {}): Promise<unknown> {
    const row = await answered(this.row<{ value: string; version: number }>(GET, key, this.#now()));
    if (row === null) return null;
    this.#seen.set(key, row.version);
    return type === "json" ? JSON.parse(row.value) : row.value;
  }

  async put(key: string, value: string, options: PutOptions = {}): Promise<void> {
    const metadata = options.metadata === undefined ? null : JSON.stringify(options.metadata);
    const now = this.#now();
    const end =
      options.expiration === undefined
        ? options.expirationTtl === undefined
          ? NO_END
          : now + options.expirationTtl * 1000
        : options.expiration * 1000;
    const seen = this.#seen.get(key);
    const statements =
      seen === undefined
        ? this.#insert(key, value, { metadata, now, end })
        : [this.prepare(UPDATE, key, seen, value, metadata, end)];
    const [written] = await answered(this.database.batch(statements));
    if (written?.meta.changes !== 1) throw new SignInChanged();
    this.#seen.set(key, (seen ?? 0) + 1);
  }

  async delete(key: string): Promise<void> {
    const seen = this.#seen.get(key);
    this.#seen.delete(key);
    const statements =
      seen === undefined ? this.prepareAll(REMOVE, key) : this.prepareAll(REMOVE_SEEN, key, seen);
    const [, removed] = await answered(this.database.batch(statements));
    if (seen !== undefined && removed?.meta.changes !== 1) throw new SignInChanged();
  }

  async list({ prefix, limit = 1000, cursor = "" }: ListOptions): Promise<Listed> {
    if (!prefix.endsWith(":")) throw new TypeError("a list of sign-ins is of a whole family");
    // The character after the colon ends the range.
    const end = `${prefix.slice(0, -1)};`;
    type Row = { key: string; metadata: string | null };
    const found = await answered(this.rows<Row>(LIST, prefix, this.#now(), end, cursor, limit + 1));
    const rows = found.slice(0, limit);
    const keys = rows.map(({ key, metadata }) => ({
      name: key,
      metadata: metadata === null ? null : (JSON.parse(metadata) as unknown),
    }));
    const last = rows.at(-1);
    return found.length <= limit || last === undefined
      ? { keys, list_complete: true }
      : { keys, list_complete: false, cursor: last.key };
  }

  #insert(
    key: string,
    value: string,
    { metadata, now, end }: { metadata: string | null; now: number; end: number },
  ): D1PreparedStatement[] {
    const family = key.slice(0, key.lastIndexOf(":"));
    const [kind, user = null, grant] = family.split(":");
    const parent = grant === undefined ? null : `grant:${user}:${grant}`;
    const owner = kind === "grant" || kind === "token" ? user : null;
    const statements = [this.prepare(INSERT, key, parent, family, owner, value, metadata, now, end)];
    const most = mostOf[kind ?? ""];
    if (most !== undefined) statements.push(...this.prepareAll(TRIM, family, most, SLICE));
    const { clientId } = Object(metadata === null ? {} : JSON.parse(metadata)) as { clientId?: unknown };
    if (kind === "grant" && typeof clientId === "string") statements.push(this.prepare(USED, clientId));
    return statements;
  }
}
