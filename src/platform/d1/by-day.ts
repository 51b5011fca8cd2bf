/** The number created on a day (UTC), and the number of their users. `day`: its first moment. */
export type CreatedOnDay = { day: number; count: number; users: number };

const DAY_MS = 24 * 60 * 60 * 1000;
/** The day of the column `created_at`; before the day ?3, the one before it. */
const DAY = `MAX(created_at - created_at % ${DAY_MS}, ?3 - ${DAY_MS})`;

/** Rows of an index that one statement reads: some 11 ms, in which no write of the database gets its turn. */
export const counting = { slice: 20_000 };

/** `index`: begins with the user. `where`: its own condition. `count`: the SQL of the number. */
type Counted = { table: string; index: string; where: string; count: string };

/** Counts by the day of the creation, from a day on; what is older, in the day before that. Reads the whole index, some users at a time. */
export async function countedByDay(
  database: D1Database,
  { table, index, where, count }: Counted,
  from: number,
): Promise<CreatedOnDay[]> {
  const rows = `FROM ${table} INDEXED BY ${index} WHERE ${where} AND user_hash > ?1`;
  const stretches: CreatedOnDay[][] = [];
  for (let after = ""; ;) {
    const last = await database
      .prepare(`SELECT user_hash ${rows} ORDER BY user_hash LIMIT 1 OFFSET ?2`)
      .bind(after, counting.slice)
      .first<string>("user_hash");
    const { results } = await database
      .prepare(
        `SELECT ${DAY} AS day, ${count} AS count, COUNT(DISTINCT user_hash) AS users ${rows}
           AND user_hash <= ?2 GROUP BY day`,
      )
      .bind(after, last ?? "\uffff", from)
      .all<CreatedOnDay>();
    stretches.push(results);
    if (last === null) return summedByDay(stretches);
    after = last;
  }
}

/** The sums of several databases or stretches of users, the oldest day first. */
export const summedByDay = (lists: readonly (readonly CreatedOnDay[])[]): CreatedOnDay[] =>
  [...Map.groupBy(lists.flat(), ({ day }) => day)]
    .map(([day, same]) => ({
      day,
      count: same.reduce((sum, { count }) => sum + count, 0),
      // All of a user is in one of them.
      users: same.reduce((sum, { users }) => sum + users, 0),
    }))
    .toSorted((a, b) => a.day - b.day);
