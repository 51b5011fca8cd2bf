import { limits } from "../../domain/limits.ts";
import type { UserHash } from "../../domain/ids.ts";
import { withDeadline } from "../deadline.ts";
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
const OF_USER = `SELECT value, created_at, expires_at FROM sign_ins
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
export class D1SignIns {
  readonly #db: D1Database;

  constructor(db: D1Database) {
    this.#db = db;
  }

  /** The store for the calls of one request. */
  store(now: () => number): SignInStore {
    return new SignInStore(this.#db, now);
  }

  /** A user's, the newest first: at most `limits.signIns`. */
  async list(user: UserHash, now: number): Promise<StoredSignIn[]> {
    const found = this.#db.prepare(OF_USER).bind(`grant:${user}`, now);
    const { results } = await answered(
      found.all<{ value: string; created_at: number; expires_at: number }>(),
    );
    return results.map(({ value, created_at: createdAt, expires_at: expiresAt }) => ({
      // The library wrote it.
      ...(JSON.parse(value) as Grant),
      createdAt,
      expiresAt,
    }));
  }

  /** Deletes a sign-in with its tokens. */
  async revoke(user: UserHash, id: string): Promise<void> {
    await this.#run([
      ...prepared(this.#db, REMOVE, `grant:${user}:${id}`),
      ...prepared(this.#db, REMOVE_FAMILY, `token:${user}:${id}`),
    ]);
  }

  /** Deletes a user's sign-ins up to a time, with all of their tokens. */
  async erase(user: UserHash, upTo: number): Promise<ErasedSignIns> {
    const [, grants = 0, , tokens = 0] = await this.#run([
      ...prepared(this.#db, REMOVE_OLD, user, upTo),
      ...prepared(this.#db, REMOVE_LOST, user),
    ]);
    return { grants, tokens };
  }

  /** True if such sign-ins are still there. */
  async has(user: UserHash, upTo: number): Promise<boolean> {
    return (await answered(this.#db.prepare(HAS).bind(user, upTo).first<number>("n"))) !== 0;
  }

  /** Deletes some of what expired by `time`, and of the unused apps beyond their limit; answers how many at least. */
  async prune(time: number, limit: number): Promise<number> {
    const [, ended = 0, , beyond = 0] = await this.#run([
      ...prepared(this.#db, PRUNE, time, limit),
      ...prepared(this.#db, TRIM, "client", limits.unusedApps, limit),
    ]);
    return Math.max(ended, beyond);
  }

  /** The rows that each statement changed. */
  async #run(statements: D1PreparedStatement[]): Promise<number[]> {
    const done = await answered(this.#db.batch(statements));
    return done.map(({ meta }) => meta.changes);
  }
}

/**
 * The grants, tokens and registered apps of people who signed in. The library of OAuth knows KV, whose lists and reads may be a
 * minute old: a receipt could not say that they are gone, and a code could be used twice. D1 has the same calls here. Every method
 * rejects when D1 does not answer.
 */
export type SignIns = Pick<D1SignIns, keyof D1SignIns>;

const prepared = (
  db: D1Database,
  texts: readonly string[],
  ...given: (string | number)[]
): D1PreparedStatement[] => texts.map((text) => db.prepare(text).bind(...given));

type PutOptions = { expirationTtl?: number; expiration?: number; metadata?: unknown };
type ListOptions = { prefix: string; limit?: number; cursor?: string };
type Listed = { keys: { name: string; metadata: unknown }[]; list_complete: boolean; cursor?: string };

/**
 * The calls of a KV namespace that the library makes, for one request. A write of a record that this request has read throws
 * `SignInChanged` if another call was first: a code works once, and no refresh brings back an erased grant.
 */
export class SignInStore {
  readonly #db: D1Database;
  readonly #now: () => number;
  readonly #seen = new Map<string, number>();

  constructor(db: D1Database, now: () => number) {
    this.#db = db;
    this.#now = now;
  }

  async get(key: string, { type = "text" }: { type?: "text" | "json" } = {}): Promise<unknown> {
    const found = this.#db.prepare(GET).bind(key, this.#now());
    const row = await answered(found.first<{ value: string; version: number }>());
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
        : [this.#db.prepare(UPDATE).bind(key, seen, value, metadata, end)];
    const [written] = await answered(this.#db.batch(statements));
    if (written?.meta.changes !== 1) throw new SignInChanged();
    this.#seen.set(key, (seen ?? 0) + 1);
  }

  async delete(key: string): Promise<void> {
    const seen = this.#seen.get(key);
    this.#seen.delete(key);
    const statements =
      seen === undefined ? prepared(this.#db, REMOVE, key) : prepared(this.#db, REMOVE_SEEN, key, seen);
    const [, removed] = await answered(this.#db.batch(statements));
    if (seen !== undefined && removed?.meta.changes !== 1) throw new SignInChanged();
  }

  async list({ prefix, limit = 1000, cursor = "" }: ListOptions): Promise<Listed> {
    if (!prefix.endsWith(":")) throw new TypeError("a list of sign-ins is of a whole family");
    // The character after the colon ends the range.
    const end = `${prefix.slice(0, -1)};`;
    const found = this.#db.prepare(LIST).bind(prefix, this.#now(), end, cursor, limit + 1);
    const { results } = await answered(found.all<{ key: string; metadata: string | null }>());
    const rows = results.slice(0, limit);
    const keys = rows.map(({ key, metadata }) => ({
      name: key,
      metadata: metadata === null ? null : (JSON.parse(metadata) as unknown),
    }));
    const last = rows.at(-1);
    return results.length <= limit || last === undefined
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
    const statements = [this.#db.prepare(INSERT).bind(key, parent, family, owner, value, metadata, now, end)];
    const most = mostOf[kind ?? ""];
    if (most !== undefined) statements.push(...prepared(this.#db, TRIM, family, most, SLICE));
    const { clientId } = Object(metadata === null ? {} : JSON.parse(metadata)) as { clientId?: unknown };
    if (kind === "grant" && typeof clientId === "string")
      statements.push(this.#db.prepare(USED).bind(clientId));
    return statements;
  }
}
