/** How many were created on a day (UTC). `day`: its first moment. */
export type CreatedOnDay = { day: number; count: number };
export type Counts = { users: number; memories: CreatedOnDay[]; threads: CreatedOnDay[] };

/** Counts of the whole tenant. Rejects when D1 does not answer. */
export interface Statistics {
  /** `from`: the first day. */
  count(from: number): Promise<Counts>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const DAY = `(created_at - created_at % ${DAY_MS})`;
const USERS = "SELECT COUNT(*) AS n FROM users";
/** A changed fact keeps the time of its creation, and is counted once. Reads the index of all memories. */
const MEMORIES = `SELECT ${DAY} AS day, COUNT(DISTINCT id) AS count FROM memories INDEXED BY memories_by_age
  WHERE corrected_at IS NULL AND created_at >= ? GROUP BY day ORDER BY day`;
const THREADS = `SELECT ${DAY} AS day, COUNT(*) AS count FROM threads INDEXED BY threads_by_age
  WHERE created_at >= ? GROUP BY day ORDER BY day`;

export class D1Statistics implements Statistics {
  readonly #database: D1Database;

  constructor(database: D1Database) {
    this.#database = database;
  }

  async count(from: number): Promise<Counts> {
    const [users, memories, threads] = await this.#database.batch<CreatedOnDay & { n: number }>([
      this.#database.prepare(USERS),
      this.#database.prepare(MEMORIES).bind(from),
      this.#database.prepare(THREADS).bind(from),
    ]);
    return {
      users: users?.results[0]?.n ?? 0,
      memories: memories?.results ?? [],
      threads: threads?.results ?? [],
    };
  }
}

/** The sums of several databases. */
export const summed = (all: readonly Counts[]): Counts => ({
  users: all.reduce((sum, { users }) => sum + users, 0),
  memories: byDay(all.flatMap(({ memories }) => memories)),
  threads: byDay(all.flatMap(({ threads }) => threads)),
});

const byDay = (days: readonly CreatedOnDay[]): CreatedOnDay[] =>
  [...Map.groupBy(days, ({ day }) => day)]
    .map(([day, same]) => ({ day, count: same.reduce((sum, { count }) => sum + count, 0) }))
    .toSorted((a, b) => a.day - b.day);
