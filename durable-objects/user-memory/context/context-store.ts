import { limits } from "../../../src/domain/limits.ts";
import type {
  ContextFormat,
  ContextLayer,
  ContextProfile,
  ContextSection,
} from "../../../src/domain/schema/context.ts";
import type { Place } from "../../../src/domain/context/item.ts";
import type { PlacedSection } from "../../../src/contract/user-memory.ts";
import type { Segment } from "../core/position.ts";

/** Names a place, and no other. Another instruction in the place of one has another name. */
export const keyOf = (place: Place): string =>
  "n" in place
    ? place.standing !== undefined
      ? `${place.n} from ${place.passage?.[0] ?? 0} ${place.hash ?? ""}`
      : `${place.owner ?? ""}${place.n}${place.was === place.n ? " ended" : ""}`
    : "key" in place
      ? `${place.key}\n${place.version}`
      : place.compaction;

/** Names a place, and its message if that is shown with it. */
export const shownKeys = (place: Place): string[] =>
  "n" in place && place.standing === "whole" ? [keyOf(place), String(place.n)] : [keyOf(place)];

/** The look of a block; `sources`: each item names its memory, message or entry. */
export type Rendering = { format: ContextFormat; sources?: boolean };
/**
 * The stable block of a thread. `recipe`: equal for requests that make equal blocks; `told`: places that the turns since then have
 * shown, and `toldBy` these turns.
 */
export type StableBlock = {
  recipe: string;
  look: Rendering;
  toldBy: string[];
  sections: PlacedSection[];
  told: Place[];
  madeAt: number;
  lastVersion: number;
};
/** A turn's block. */
export type TurnBlock = Rendering & {
  sections: PlacedSection[];
  meta: ContextSection[];
  confidence?: number;
  abstained?: true;
  recallId?: string;
};
/** All of an answer. */
export type RunBlock = TurnBlock & { stable: PlacedSection[] };
/** A turn's block, and its row. */
export type StoredTurn = { block: TurnBlock; thread: number };

/** The turn of a message of the user, by its hash: the seq of the user's message before it is `from` at least, and below `to`. */
export type TurnPlace = { hash: string; from: number; to: number };
/** A turn, by its place in the thread, and by the name that its prompt counts. */
export type TurnQuery = { place: TurnPlace | null; counted: string };
/** A stretch of a thread, which another thread may own. */
type Stretch = Pick<Segment, "n" | "to">;

/** The name of the turn at a place. Names of one message are in the order of their turns. */
export const placedName = ({ hash, from }: { hash: string; from: number }): string =>
  `${hash}:${String(from).padStart(SEQ_DIGITS, "0")}`;

const SEQ_DIGITS = 10;
/** Turns of a thread whose blocks are kept at least: twice as many as a call asks for. */
const MOST_TURNS = 2_000;
/** Blocks of no thread. */
export const NO_THREAD = 0;
const STABLE = "stable";

/**
 * Stores blocks of prompts as places. The texts stay where they are, so a forgotten memory is in no block.
 * Entries have no history, so their texts are copied; a trigger deletes these with their entry. Owns the SQL of
 * `context_blocks`, `context_entries` and `context_profiles`.
 */
export class ContextStore {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  stable(thread: number): { block: StableBlock; usedAt: number } | null {
    return this.#get(thread, STABLE) as { block: StableBlock; usedAt: number } | null;
  }

  putStable(thread: number, block: StableBlock, now: number): void {
    this.#put(thread, STABLE, { block, now });
  }

  /** Notes that a provider may have cached the thread's prompt again. */
  use(thread: number, now: number): void {
    this.#sql.exec(
      "UPDATE context_blocks SET used_at = ? WHERE thread = ? AND name = ? AND used_at < ?",
      now,
      thread,
      STABLE,
      now,
    );
  }

  /** The blocks of these turns, of a thread and those that it was forked from; of a turn of several, that of the first. */
  turns(line: Iterable<Stretch>, turns: readonly string[]): Map<string, StoredTurn> {
    const threads = Array.from(line, ({ n }) => n);
    const rows = this.#sql
      .exec<{ thread: number; turn: string; body: string }>(
        `SELECT thread, substr(name, 6) AS turn, body FROM context_blocks
         WHERE thread IN (SELECT value FROM json_each(?)) AND name IN (SELECT 'turn:' || value FROM json_each(?))`,
        JSON.stringify(threads),
        JSON.stringify(turns),
      )
      .toArray()
      .toSorted((a, b) => threads.indexOf(b.thread) - threads.indexOf(a.thread));
    return new Map(
      rows.map(({ thread, turn, body }) => [turn, { thread, block: JSON.parse(body) as TurnBlock }]),
    );
  }

  /**
   * The names of turns that have a block, else null. A place has the last one of its range: an earlier one is of a message that is
   * deleted. Of an origin (`to`: its last shared seq), a fork has the turns up to the fork.
   */
  turnNames(line: Iterable<Stretch>, turns: readonly TurnQuery[]): (string | null)[] {
    const ranges = turns.flatMap(({ place, counted }, i) => [
      [i, 1, counted, `${counted}!`],
      ...(place === null
        ? []
        : [[i, 0, placedName(place), placedName({ hash: place.hash, from: place.to })]]),
    ]);
    const rows = this.#sql
      .exec<{ i: number; turn: string }>(
        `SELECT range.value ->> 0 AS i, substr(max(name), 6) AS turn
         FROM json_each(?1) AS range CROSS JOIN json_each(?2) AS line CROSS JOIN context_blocks
           ON thread = line.value ->> 'n'
           AND name >= 'turn:' || (range.value ->> 2) AND name < 'turn:' || (range.value ->> 3)
         WHERE range.value ->> 1 = 1 OR CAST(substr(name, ?3) AS INTEGER) < line.value ->> 'to'
         GROUP BY range.key ORDER BY range.value ->> 1 DESC`,
        JSON.stringify(ranges),
        JSON.stringify(Array.from(line, ({ n, to }) => ({ n, to }))),
        -SEQ_DIGITS,
      )
      .toArray();
    const names = new Map(rows.map(({ i, turn }) => [i, turn]));
    return turns.map((_, i) => names.get(i) ?? null);
  }

  putTurn(thread: number, turn: string, block: TurnBlock, now: number): void {
    this.#put(thread, `turn:${turn}`, { block, now });
    // Once in 64 turns: a caller may ask for turns that no message follows.
    if (oneIn64(turn))
      this.#sql.exec(
        `DELETE FROM context_blocks WHERE thread = ?1 AND name IN (
           SELECT name FROM context_blocks WHERE thread = ?1 AND name >= 'turn:' AND name < 'turn;'
           ORDER BY used_at DESC LIMIT -1 OFFSET ?2)`,
        thread,
        MOST_TURNS,
      );
  }

  /** Stores what is left of a turn's block. */
  reduceTurn(thread: number, turn: string, block: TurnBlock): void {
    this.#reduce(thread, `turn:${turn}`, block);
  }

  /** Stores what is left of a snapshot. */
  reduceRun(name: string, block: RunBlock): void {
    this.#reduce(NO_THREAD, `run:${name}`, block);
  }

  #reduce(thread: number, name: string, block: object): void {
    this.#sql.exec(
      "UPDATE context_blocks SET body = ? WHERE thread = ? AND name = ?",
      JSON.stringify(block),
      thread,
      name,
    );
  }

  run(name: string, now: number): RunBlock | null {
    return (this.#get(NO_THREAD, `run:${name}`, now)?.block as RunBlock | undefined) ?? null;
  }

  putRun(name: string, block: RunBlock, { now, expiresAt }: { now: number; expiresAt: number }): void {
    this.#sql.exec("DELETE FROM context_blocks WHERE expires_at < ?", now);
    this.#sql.exec(
      "DELETE FROM context_entries WHERE thread = ?1 AND NOT EXISTS (SELECT 1 FROM context_blocks WHERE thread = ?1)",
      NO_THREAD,
    );
    this.#put(NO_THREAD, `run:${name}`, { block, now, expiresAt });
  }

  /** Copies the text of an entry that a block of a thread shows. */
  copyEntry(
    thread: number,
    { key, version }: { key: string; version: string },
    { text, expiresAt }: { text: string; expiresAt: number | null },
  ): void {
    this.#sql.exec(
      "INSERT OR IGNORE INTO context_entries (entry, version, thread, text, expires_at) VALUES (?, ?, ?, ?, ?)",
      key,
      version,
      thread,
      text,
      expiresAt,
    );
  }

  /** The copied text of an entry that expires at `from` or later, or never. */
  entryText({ key, version }: { key: string; version: string }, from: number): string | null {
    const [row] = this.#sql
      .exec<{ text: string }>(
        `SELECT text FROM context_entries WHERE entry = ?1 AND version = ?2 AND COALESCE(expires_at, ?3) >= ?3 LIMIT 1`,
        key,
        version,
        from,
      )
      .toArray();
    return row?.text ?? null;
  }

  profile(name: string): ContextLayer[] | null {
    const [row] = this.#sql
      .exec<{ layers: string }>("SELECT layers FROM context_profiles WHERE name = ?", name)
      .toArray();
    return row === undefined ? null : (JSON.parse(row.layers) as ContextLayer[]);
  }

  profiles(): ContextProfile[] {
    return this.#sql
      .exec<{ name: string; layers: string }>("SELECT name, layers FROM context_profiles ORDER BY name")
      .toArray()
      .map(({ name, layers }) => ({ name, layers: JSON.parse(layers) as ContextLayer[] }));
  }

  /** False, without a write, at the limit. */
  putProfile(name: string, layers: readonly ContextLayer[]): boolean {
    const stored = this.#sql.exec(
      `INSERT INTO context_profiles (name, layers) SELECT ?1, ?2
       WHERE (SELECT COUNT(*) FROM context_profiles WHERE name <> ?1) < ?3
       ON CONFLICT (name) DO UPDATE SET layers = ?2 RETURNING name`,
      name,
      JSON.stringify(layers),
      limits.contextProfiles,
    );
    return stored.toArray().length > 0;
  }

  deleteProfile(name: string): void {
    this.#sql.exec("DELETE FROM context_profiles WHERE name = ?", name);
  }

  #get(thread: number, name: string, now?: number): { block: object; usedAt: number } | null {
    const [row] = this.#sql
      .exec<{ body: string; used_at: number; expires_at: number | null }>(
        "SELECT body, used_at, expires_at FROM context_blocks WHERE thread = ? AND name = ?",
        thread,
        name,
      )
      .toArray();
    if (row === undefined || (now !== undefined && (row.expires_at ?? Infinity) < now)) return null;
    return { block: JSON.parse(row.body) as object, usedAt: row.used_at };
  }

  #put(
    thread: number,
    name: string,
    { block, now, expiresAt = null }: { block: object; now: number; expiresAt?: number | null },
  ): void {
    this.#sql.exec(
      `INSERT INTO context_blocks (thread, name, body, used_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5)
       ON CONFLICT (thread, name) DO UPDATE SET body = ?3, used_at = ?4, expires_at = ?5`,
      thread,
      name,
      JSON.stringify(block),
      now,
      expiresAt,
    );
  }
}

/** True for one in 64 names, also of those that begin alike. */
const oneIn64 = (name: string): boolean =>
  Array.from(name).reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 64, 0) === 0;
