import { type Failure, invalidField } from "../errors.ts";
import { time } from "./memory-fields.ts";

/** In seconds, these are the years 1990 to 2099; in milliseconds, some weeks of 1970, before there were chats. */
const [FIRST_SECOND, LAST_SECOND] = [Date.UTC(1990, 0) / 1000, Date.UTC(2100, 0) / 1000];
const isInSeconds = (given: number): boolean => given >= FIRST_SECOND && given < LAST_SECOND;

/** Room for a clock that is ahead. */
const AHEAD_MS = 86_400_000;

/** The time of a message. */
export const messageTime = time.refine((given) => !isInSeconds(given), {
  error: "looks like seconds: the unit is milliseconds since the epoch",
});

/** The failure of a body whose `createdAt` is a time of messages more than a day ahead; else null. */
export function futureTimeFailure(
  createdAt: number | readonly number[] | undefined,
  now: number,
  at = "body",
): Failure | null {
  const times = createdAt === undefined ? [] : [createdAt].flat();
  const wrong = times.findIndex((one) => one > now + AHEAD_MS);
  if (wrong < 0) return null;
  const path = Array.isArray(createdAt) ? `${at}.createdAt[${wrong}]` : `${at}.createdAt`;
  return invalidField(path, "is more than a day ahead: the unit is milliseconds since the epoch");
}
