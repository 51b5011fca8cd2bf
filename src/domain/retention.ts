import type { Retention, RetentionRule } from "./schema/retention.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** The milliseconds of an age such as `180d`. */
export const msOf = (age: string): number => Number.parseInt(age, 10) * DAY_MS;

/** The rules of a tenant and of a user together. `messages`: milliseconds, the shorter of both; null without a rule. */
export type RetentionPlan = { messages: number | null; memories: readonly RetentionRule[] };

export function planOf(...levels: readonly Retention[]): RetentionPlan {
  return {
    messages: shortest(levels.map(({ messages }) => messages)),
    memories: levels.flatMap(({ memories = [] }) => memories),
  };
}

/** The shortest of these ages in milliseconds; null if none is set. */
function shortest(ages: readonly (string | undefined)[]): number | null {
  const set = ages.filter((age) => age !== undefined).map(msOf);
  return set.length === 0 ? null : Math.min(...set);
}
