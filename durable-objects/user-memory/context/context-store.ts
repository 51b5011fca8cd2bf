import { limits } from "../../../src/domain/limits.ts";
import type {
  ContextFormat,
  ContextLayer,
  ContextProfile,
  ContextSection,
} from "../../../src/domain/schema/context.ts";
import type { Place } from "../../../src/domain/context/item.ts";
import type { PlacedSection } from "../../../src/contract/user-memory.ts";
import { Sql } from "../../storage/sql.ts";
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
  readonly #sql: Sql;

  constructor(sql: SqlStorage) {
    this.#sql = new Sql(sql);
  }

  stable(thread: number): { block: StableBlock; usedAt: number } | null {
    const [row] = this.#blocks(thread, STABLE);
    return row === undefined ? null : { block: JSON.parse(row.body) as StableBlock, usedAt: row.used_at };
  }

  putStable(thread: number, block: StableBlock, now: number): void {
    this.#put(thread, STABLE, { block, now });
  }

  /** Notes that a provider may have cached the thread's prompt again. */
  use(thread: number, now: number): void {
    this.#sql.run`
      UPDATE context_blocks SET used_at = ${now} WHERE thread = ${thread} AND name = ${STABLE} AND used_at < ${now}`;
  }

  /** The blocks of these turns, of a thread and those that it was forked from; of a turn of several, that of the first. */
  turns(line: Iterable<Stretch>, turns: readonly string[]): Map<string, StoredTurn> {
    const threads = Array.from(line, ({ n }) => n);
    const rows = this.#sql.rows<{ thread: number; turn: string; body: string }>`
      SELECT thread, substr(name, 6) AS turn, body FROM context_blocks
      WHERE thread IN (SELECT value FROM json_each(${JSON.stringify(threads)}))
        AND name IN (SELECT 'turn:' || value FROM json_each(${JSON.stringify(turns)}))`;
    const firstLast = rows.toSorted((a, b) => threads.indexOf(b.thread) - threads.indexOf(a.thread));
    return new Map(
      firstLast.map(({ thread, turn, body }) => [turn, { thread, block: JSON.parse(body) as TurnBlock }]),
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
    const stretches = Array.from(line, ({ n, to }) => ({ n, to }));
    const rows = this.#sql.lists<[i: number, turn: string]>`
      SELECT range.value ->> 0, substr(max(name), 6)
      FROM json_each(${JSON.stringify(ranges)}) AS range CROSS JOIN json_each(${JSON.stringify(stretches)}) AS line
        CROSS JOIN context_blocks ON thread = line.value ->> 'n'
        AND name >= 'turn:' || (range.value ->> 2) AND name < 'turn:' || (range.value ->> 3)
      WHERE range.value ->> 1 = 1 OR CAST(substr(name, ${-SEQ_DIGITS}) AS INTEGER) < line.value ->> 'to'
      GROUP BY range.key ORDER BY range.value ->> 1 DESC`;
    const names = new Map(rows);
    return turns.map((_, i) => names.get(i) ?? null);
  }

  putTurn(thread: number, turn: string, block: TurnBlock, now: number): void {
    this.#put(thread, `turn:${turn}`, { block, now });
    // Once in 64 turns: a caller may ask for turns that no message follows.
    if (oneIn64(turn))
      this.#sql.run`
        DELETE FROM context_blocks WHERE thread = ${thread} AND name IN (
          SELECT name FROM context_blocks WHERE thread = ${thread} AND name >= 'turn:' AND name < 'turn;'
          ORDER BY used_at DESC LIMIT -1 OFFSET ${MOST_TURNS})`;
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
    this.#sql.run`
      UPDATE context_blocks SET body = ${JSON.stringify(block)} WHERE thread = ${thread} AND name = ${name}`;
  }

  run(name: string, now: number): RunBlock | null {
    const [row] = this.#blocks(NO_THREAD, `run:${name}`);
    return row === undefined || (row.expires_at ?? Infinity) < now
      ? null
      : (JSON.parse(row.body) as RunBlock);
  }

  putRun(name: string, block: RunBlock, { now, expiresAt }: { now: number; expiresAt: number }): void {
    this.#sql.run`DELETE FROM context_blocks WHERE expires_at < ${now}`;
    this.#sql.run`
      DELETE FROM context_entries WHERE thread = ${NO_THREAD}
        AND NOT EXISTS (SELECT 1 FROM context_blocks WHERE thread = ${NO_THREAD})`;
    this.#put(NO_THREAD, `run:${name}`, { block, now, expiresAt });
  }

  /** Copies the text of an entry that a block of a thread shows. */
  copyEntry(
    thread: number,
    { key, version }: { key: string; version: string },
    { text, expiresAt }: { text: string; expiresAt: number | null },
  ): void {
    this.#sql.run`
      INSERT OR IGNORE INTO context_entries (entry, version, thread, text, expires_at)
      VALUES (${key}, ${version}, ${thread}, ${text}, ${expiresAt})`;
  }

  /** The copied text of an entry that expires at `from` or later, or never. */
  entryText({ key, version }: { key: string; version: string }, from: number): string | null {
    const [text] = this.#sql.column<string>`
      SELECT text FROM context_entries
      WHERE entry = ${key} AND version = ${version} AND COALESCE(expires_at, ${from}) >= ${from} LIMIT 1`;
    return text ?? null;
  }

  profile(name: string): ContextLayer[] | null {
    const [layers] = this.#sql.column<string>`SELECT layers FROM context_profiles WHERE name = ${name}`;
    return layers === undefined ? null : (JSON.parse(layers) as ContextLayer[]);
  }

  profiles(): ContextProfile[] {
    const rows = this.#sql.rows<{ name: string; layers: string }>`
      SELECT name, layers FROM context_profiles ORDER BY name`;
    return rows.map(({ name, layers }) => ({ name, layers: JSON.parse(layers) as ContextLayer[] }));
  }

  /** False, without a write, at the limit. */
  putProfile(name: string, layers: readonly ContextLayer[]): boolean {
    return this.#sql.has`
      INSERT INTO context_profiles (name, layers) SELECT ${name}, ${JSON.stringify(layers)}
      WHERE (SELECT COUNT(*) FROM context_profiles WHERE name <> ${name}) < ${limits.contextProfiles}
      ON CONFLICT (name) DO UPDATE SET layers = excluded.layers RETURNING name`;
  }

  deleteProfile(name: string): void {
    this.#sql.run`DELETE FROM context_profiles WHERE name = ${name}`;
  }

  #blocks(thread: number, name: string) {
    return this.#sql.rows<{ body: string; used_at: number; expires_at: number | null }>`
      SELECT body, used_at, expires_at FROM context_blocks WHERE thread = ${thread} AND name = ${name}`;
  }

  #put(
    thread: number,
    name: string,
    { block, now, expiresAt = null }: { block: object; now: number; expiresAt?: number | null },
  ): void {
    this.#sql.run`
      INSERT INTO context_blocks (thread, name, body, used_at, expires_at)
      VALUES (${thread}, ${name}, ${JSON.stringify(block)}, ${now}, ${expiresAt})
      ON CONFLICT (thread, name) DO UPDATE SET
        body = excluded.body, used_at = excluded.used_at, expires_at = excluded.expires_at`;
  }
}

/** True for one in 64 names, also of those that begin alike. */
const oneIn64 = (name: string): boolean =>
  Array.from(name).reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 64, 0) === 0;
