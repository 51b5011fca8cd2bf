/** A time span that a question names, in milliseconds since the epoch; `to` is not part of it. */
export type TimeSpan = { from: number; to: number };
/** Rates a time against the one that the question names: 1 within, `AFTERMATH` soon after, 0 elsewhere. */
export type TimeMatch = (at: number) => number;

const DAY = 86_400_000;
const MONTHS = "january february march april may june july august september october november december".split(
  " ",
);
const WEEKDAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ");
/** People talk of an event for some time after it: "last week I …". Measured on conversations, docs/recall.md. */
const AFTERMATH_MS = 21 * DAY;
const AFTERMATH = 0.5;

/**
 * The time that the question names: a day or month, with or without its year, or a time relative to
 * `referenceDate` ("yesterday", "last week", "3 months ago"). Null if it names none. English; days are those of UTC.
 */
export function namedTime(question: string, referenceDate: number): TimeMatch | null {
  const named = spanOrDay(question, referenceDate);
  return named === null ? null : (at) => matchOf("from" in named ? named : timeSpanBefore(named, at), at);
}

/** Years back in which a day or month without its year is sought. */
const YEARS = 3;

/** The time spans that the question names, the last one first; of a day or month without its year, of some years. */
export function namedTimeSpans(question: string, referenceDate: number): TimeSpan[] {
  const named = spanOrDay(question, referenceDate);
  if (named === null) return [];
  if ("from" in named) return [named];
  const last = timeSpanBefore(named, referenceDate);
  if (named.year !== undefined) return [last];
  const year = new Date(last.from).getUTCFullYear();
  return Array.from({ length: YEARS }, (_, i) => timeSpanBefore({ ...named, year: year - i }, referenceDate));
}

function spanOrDay(question: string, referenceDate: number): TimeSpan | Named | null {
  const text = question.toLowerCase();
  return relativeTimeSpan(text, referenceDate) ?? monthAndDay(text);
}

/** Within, or in the three weeks after. */
function matchOf({ from, to }: TimeSpan, at: number): number {
  if (at >= from && at < to) return 1;
  return at >= to && at < to + AFTERMATH_MS ? AFTERMATH : 0;
}

type Named = { month: number; day?: number; year?: number };

function monthAndDay(text: string): Named | null {
  // "may" is a verb unless something says otherwise.
  const may = /\b(in|on|since|of|during|until|early|late|mid|\d+(st|nd|rd|th)?) may\b|\bmay,? \d/;
  const month = MONTHS.findIndex((name) => (name === "may" ? may : new RegExp(`\\b${name}\\b`)).test(text));
  const name = MONTHS[month];
  if (name === undefined) return null;
  const day = new RegExp(`(\\d{1,2})(?:st|nd|rd|th)?(?: of)? ${name}|${name} (\\d{1,2})(?!\\d)`).exec(text);
  const year = /\b(?:19|20)\d\d\b/.exec(text);
  return { month, ...(day && { day: Number(day[1] ?? day[2]) }), ...(year && { year: Number(year[0]) }) };
}

/** For a month without its year: the last one that had begun at that time. */
function timeSpanBefore({ month, day, year }: Named, at: number): TimeSpan {
  const own = new Date(at).getUTCFullYear();
  const of = year ?? (Date.UTC(own, month, day ?? 1) > at ? own - 1 : own);
  const from = Date.UTC(of, month, day ?? 1);
  return { from, to: day === undefined ? Date.UTC(of, month + 1, 1) : from + DAY };
}

function relativeTimeSpan(text: string, now: number): TimeSpan | null {
  const today = Math.floor(now / DAY) * DAY;
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  // Weeks begin on Monday (ISO 8601).
  const monday = today - ((date.getUTCDay() + 6) % 7) * DAY;
  const days = (from: number, count: number): TimeSpan => ({ from, to: from + count * DAY });
  const months = (from: number, count: number): TimeSpan => ({
    from: Date.UTC(year, from, 1),
    to: Date.UTC(year, from + count, 1),
  });
  if (/\btoday\b/.test(text)) return days(today, 1);
  if (/\byesterday\b/.test(text)) return days(today - DAY, 1);
  const ago = /\b(\d{1,3}|a|an|one|two|three|four|five|six) (day|week|month|year)s? ago\b/.exec(text);
  if (ago !== null) {
    const count = countOf(ago[1] ?? "");
    if (ago[2] === "day") return days(today - count * DAY, 1);
    // Nobody counts weeks and months to the day.
    if (ago[2] === "week") return days(today - (count * 7 + 3) * DAY, 7);
    return ago[2] === "month"
      ? months(month - count, 1)
      : { from: Date.UTC(year - count, 0), to: Date.UTC(year - count + 1, 0) };
  }
  const turn =
    /\b(last|this|past) (week|weekend|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b/.exec(
      text,
    );
  if (turn === null) return null;
  const back = turn[1] === "this" ? 0 : 1;
  if (turn[2] === "week") return days(monday - back * 7 * DAY, 7);
  if (turn[2] === "weekend") return days(monday - back * 7 * DAY + 5 * DAY, 2);
  if (turn[2] === "month") return months(month - back, 1);
  if (turn[2] === "year") return { from: Date.UTC(year - back, 0), to: Date.UTC(year - back + 1, 0) };
  const since = (date.getUTCDay() - WEEKDAYS.indexOf(turn[2] ?? "") + 7) % 7;
  return days(today - (since === 0 && back === 1 ? 7 : since) * DAY, 1);
}

const COUNTS = ["", "one", "two", "three", "four", "five", "six"];
const countOf = (word: string): number =>
  word === "a" || word === "an" ? 1 : COUNTS.includes(word) ? COUNTS.indexOf(word) : Number(word);
