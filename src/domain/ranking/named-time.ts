import { datesIn, mayNameDate, YEARS } from "../language/en-dates.ts";
import { DAY, type TimeSpan, zoneOf } from "./time-span.ts";

/** The times that a question names. */
export type NamedTime = {
  /** One span for each date or range of the question; a month without its year is the last one that had begun. */
  spans: readonly TimeSpan[];
  /** The same spans, and those of some former years for a date without its year. */
  ofYears: (years: number) => TimeSpan[];
  /** Rates a time: 1 within, `AFTERMATH` soon after, 0 elsewhere. */
  match: (at: number) => number;
};
type TimeReference = {
  /** The time that "yesterday" refers to. */
  referenceDate: number;
  /** An IANA name: days begin there. UTC unless given. */
  timeZone?: string | undefined;
};

/** People talk of an event for some time after it: "last week I …". docs/reference/recall.md, Times in a query. */
const AFTERMATH_MS = 21 * DAY;
const AFTERMATH = 0.5;
/** A longer span has no aftermath: a month, with an hour for the clock change. */
const SHORT = 32 * DAY;
/** The rating of a fact that was true at a time, but was said at another. */
const TRUE_THEN = 0.5;
/** Characters of the question that are parsed: a longer one is a pasted text, with the question at either end. */
const PARSED = 512;
/** The most dates that are read of one question. */
const MOST = 4;

/** The times that the question names, in English; null if it names none that has begun. */
export function namedTime(question: string, { referenceDate, timeZone }: TimeReference): NamedTime | null {
  const text =
    question.length <= PARSED ? question : `${question.slice(0, PARSED / 2)}\n${question.slice(-PARSED / 2)}`;
  if (!mayNameDate(text)) return null;
  const zone = zoneOf(timeZone);
  // Dates are found and computed in local time, as if it were UTC, and converted at the end.
  const now = referenceDate + zone.offsetAt(referenceDate);
  const dates = datesIn(text, now)
    .filter(({ at }) => at(0).from <= now)
    .slice(0, MOST)
    .map(({ at, recurs, isAnchor = false }) => ({
      isAnchor,
      ofYears: Array.from({ length: recurs ? YEARS : 1 }, (_, back) => zone.toUtc(at(back))),
    }));
  if (dates.length === 0) return null;
  const all = dates.flatMap(({ ofYears }) => ofYears);
  return {
    spans: dates.filter(({ isAnchor }) => !isAnchor).flatMap(({ ofYears }) => ofYears.slice(0, 1)),
    ofYears: (years) => dates.flatMap(({ ofYears }) => ofYears.slice(0, years)),
    match: (at) => all.reduce((best, span) => Math.max(best, ratingOf(span, at)), 0),
  };
}

/** When a version of a memory is true. */
export type Validity = TimeSpan & { id: string };
type Timed = { createdAt: number; validity?: Validity | undefined };

export const isTrueIn = (validity: TimeSpan, { spans }: NamedTime): boolean =>
  spans.some(({ from, to }) => validity.from < to && validity.to > from);

/** Rates documents against the time: `TRUE_THEN` at least for a fact that was true then, −1 for its other versions. */
export function dateRatings(all: readonly Timed[], time: NamedTime): number[] {
  const trueThen = new Set(
    all.flatMap(({ validity }) => (validity && isTrueIn(validity, time) ? [validity.id] : [])),
  );
  return all.map(({ createdAt, validity }) => {
    if (validity === undefined || !trueThen.has(validity.id)) return time.match(createdAt);
    return isTrueIn(validity, time) ? Math.max(TRUE_THEN, time.match(createdAt)) : -1;
  });
}

function ratingOf({ from, to }: TimeSpan, at: number): number {
  if (at >= from && at < to) return 1;
  return to - from <= SHORT && at >= to && at < to + AFTERMATH_MS ? AFTERMATH : 0;
}
