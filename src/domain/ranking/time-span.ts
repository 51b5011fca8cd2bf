/** A time span, in milliseconds since the epoch; `to` is not part of it. */
export type TimeSpan = { from: number; to: number };

/** The earliest time that a `Date` can hold, in milliseconds since the epoch (ECMA-262). */
export const EARLIEST = -8.64e15;
/** Milliseconds. */
export const DAY = 86_400_000;

export function isTimeZone(timeZone: string): boolean {
  try {
    return new Intl.DateTimeFormat("en-US", { timeZone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}

/** Converts between UTC and local times, both in milliseconds as if of UTC. */
type Zone = { offsetAt: (at: number) => number; toUtc: (span: TimeSpan) => TimeSpan };

export function zoneOf(timeZone = "UTC"): Zone {
  if (timeZone === "UTC") return { offsetAt: () => 0, toUtc: (span) => span };
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  const offsetAt = (time: number): number => {
    const at = Math.min(Math.max(time, EARLIEST + DAY), -EARLIEST - DAY);
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const [year = 0, month = 1, ...rest] = (
      ["year", "month", "day", "hour", "minute", "second"] as const
    ).map((type) => parts.get(type));
    return Date.UTC(year, month - 1, ...rest) - Math.floor(at / 1000) * 1000;
  };
  const instantOf = (local: number): number =>
    local === EARLIEST ? EARLIEST : local - offsetAt(local - offsetAt(local));
  return { offsetAt, toUtc: ({ from, to }) => ({ from: instantOf(from), to: instantOf(to) }) };
}
