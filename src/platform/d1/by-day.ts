/** The number created on a day (UTC), and the number of their users. `day`: its first moment. */
export type CreatedOnDay = { day: number; count: number; users: number };

const DAY_MS = 24 * 60 * 60 * 1000;
/** The day of the column `created_at`. */
export const DAY = `(created_at - created_at % ${DAY_MS})`;

/** The sums of several databases, the oldest day first. */
export const summedByDay = (days: readonly CreatedOnDay[]): CreatedOnDay[] =>
  [...Map.groupBy(days, ({ day }) => day)]
    .map(([day, same]) => ({
      day,
      count: same.reduce((sum, { count }) => sum + count, 0),
      // All of a user is in one database.
      users: same.reduce((sum, { users }) => sum + users, 0),
    }))
    .toSorted((a, b) => a.day - b.day);
