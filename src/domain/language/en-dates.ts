import { casual } from "chrono-node/en";
import { DAY, EARLIEST, type TimeSpan } from "../ranking/time-span.ts";

/** Years in which a date without its year is sought, the last one first. */
export const YEARS = 10;
const MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const WEEKDAY = "mon|tue|wed|thu|fri|sat|sun";
const SEASONS = ["spring", "summer", "autumn", "winter"];
const SEASON = "spring|summer|autumn|fall|winter";
const YEAR = "(?:19|20)\\d\\d";
const TIME_WORD = new RegExp(
  `\\d|\\b(?:today|tonight|yesterday|morning|evening|night|day|week|month|quarter|year|ago\\b|${MONTH}|${WEEKDAY}|${SEASON})`,
  "i",
);
// A number of four digits is a year after some words or beside another one, unless it counts something.
const YEAR_ALONE = `(?:(?<=\\b(?:in|during|since|before|after|until|till|by|from|through|throughout|early|late|mid|(?:prior|up) to|(?:half|all|rest|most) of|(?<![\\w-])${YEAR}\\s*(?:to|and|-|–)|from .{3,20} to)(?: the year| early| late| mid)?[\\s-]*)|(?<![\\w-])(?=${YEAR}\\s*(?:to|-|–)\\s*${YEAR}\\b(?!-)))(${YEAR})\\b(?![-/]\\d\\d?\\b|[.,:]\\d|\\s*(?:to|and|-|–)\\s*(?!${YEAR}\\b)\\d|\\s*[%€$£]|\\s+(?!(?:does|was|is|has|his|as|this)\\b)[a-z]+s\\b|\\s+people\\b)`;
/** Forms that the parser does not know, and how it knows them. */
const REWRITES: readonly (readonly [RegExp, string])[] = [
  [/\b(?:the )?(?:end|start|beginning|middle) of (?:the )?/gi, "late "],
  [/\b(?:morning|noon|afternoon|evening|night) of (?=.*\d)/gi, ""],
  [/\b(?:the )?(week|month|year) before last\b/gi, "2 $1s ago"],
  [/\bbetween (.{3,30}?) and /gi, "from $1 to "],
  // It drops what consists of digits.
  [new RegExp(YEAR_ALONE, "gi"), "y$1"],
];

/** The parser of dates, with more forms. */
const parser = casual.clone();
// The last refiner drops "May" after any word but "in".
parser.refiners.pop();
type ParsedDate = ReturnType<typeof parser.parse>[number];
type Extract = (match: RegExpMatchArray, now: Date) => { year?: number; month?: number; grain: Grain };
function addForm(pattern: RegExp, extract: Extract): void {
  parser.parsers.push({
    pattern: () => pattern,
    extract: (context, match) => {
      const { grain, ...known } = extract(match, context.refDate);
      return context.createParsingComponents(known).addTag(grain);
    },
  });
}
addForm(new RegExp(`\\by(${YEAR})\\b`), ([, year]) => ({ year: Number(year), grain: "year" }));
addForm(new RegExp(`(?<![\\d-])(${YEAR})-(0[1-9]|1[0-2])(?![\\d-])`), ([, year, month]) => ({
  year: Number(year),
  month: Number(month),
  grain: "month",
}));
addForm(
  new RegExp(
    `\\b(?:(last|past|this) (${SEASON})\\b|(${SEASON})(?: of|,)? (${YEAR})\\b|(?<=\\b(?:in|during|since|over) the )(${SEASON})\\b|(?<=\\b(?:in|during|since) )(${SEASON})(?=\\s*(?:[?.!,;]|$)))`,
    "i",
  ),
  ([, turn, turned, ofYear, year, inThe, plain], now) => {
    const name = (turned ?? ofYear ?? inThe ?? plain ?? "").toLowerCase();
    // Meteorological, of the northern hemisphere: spring begins in March.
    const month = SEASONS.indexOf(name === "fall" ? "autumn" : name) * 3 + 3;
    if (year !== undefined) return { year: Number(year), month, grain: "season" };
    if (turn === undefined) return { month, grain: "season" };
    // "Last summer" is over, "this summer" has begun.
    const ends = turn.toLowerCase() === "this" ? 0 : 3;
    const own = now.getUTCFullYear();
    const begun = Date.UTC(own, month - 1 + ends) <= now.getTime();
    return { year: begun ? own : own - 1, month, grain: "season" };
  },
);
const ORDINALS = ["first", "second", "third", "fourth"];
addForm(
  new RegExp(
    `\\b(?:q([1-4])(?:,? (?:of )?|[/-])(${YEAR})|(?<=\\b(?:in|during|since) )q([1-4])|(${YEAR})[ -]?q([1-4])|(?:(${ORDINALS.join("|")})|([1-4])(?:st|nd|rd|th)) quarter(?:,? (?:of )?(${YEAR}))?)\\b`,
    "i",
  ),
  ([, q, qYear, qAlone, yearQ, q2, word, digit, year]) => {
    const which = q ?? qAlone ?? q2 ?? digit;
    const number = which === undefined ? ORDINALS.indexOf(word?.toLowerCase() ?? "") + 1 : Number(which);
    const known = qYear ?? yearQ ?? year;
    const month = number * 3 - 2;
    return { month, ...(known !== undefined && { year: Number(known) }), grain: "quarter" };
  },
);

type Grain = "day" | "week" | "weekend" | "month" | "quarter" | "season" | "year";
const isGrain = (tag: string): tag is Grain => tag in SPANS;
const days = (from: number, count: number): TimeSpan => ({ from, to: from + count * DAY });
const months = (date: Date, from: number, count: number): TimeSpan => ({
  from: Date.UTC(date.getUTCFullYear(), from),
  to: Date.UTC(date.getUTCFullYear(), from + count),
});
/** Weeks begin on Monday (ISO 8601). */
const mondayOf = (date: Date): number => date.getTime() - ((date.getUTCDay() + 6) % 7) * DAY;
/** The span of each grain that a day is in. */
const SPANS: Record<Grain, (day: Date) => TimeSpan> = {
  day: (day) => days(day.getTime(), 1),
  week: (day) => days(mondayOf(day), 7),
  weekend: (day) => days(mondayOf(day) + 5 * DAY, 2),
  month: (day) => months(day, day.getUTCMonth(), 1),
  quarter: (day) => months(day, Math.floor(day.getUTCMonth() / 3) * 3, 3),
  season: (day) => months(day, day.getUTCMonth(), 3),
  year: (day) => months(day, 0, 12),
};

/**
 * `at(back)`: its span, so many years before the last one; `recurs`: its year is not said; `isAnchor`: the question is
 * about a time before or after it, of which people may tell on that date.
 */
type NamedDate = { at: (back: number) => TimeSpan; recurs: boolean; isAnchor?: true };
const once = (span: TimeSpan): NamedDate => ({ at: () => span, recurs: false });

/** A cheap test before `datesIn`: false if the text holds no date. */
export const mayNameDate = (text: string): boolean => TIME_WORD.test(text);

/**
 * The dates and ranges in an English text, in local time as if it were UTC: chrono-node finds them, and `isLikelyNoDate`
 * drops what likely is no date.
 */
export function datesIn(text: string, now: number): NamedDate[] {
  return datesOf(
    REWRITES.reduce((all, [form, simpler]) => all.replace(form, simpler), text),
    now,
  );
}

function datesOf(text: string, now: number): NamedDate[] {
  return parser.parse(text, { instant: new Date(now), timezone: 0 }).flatMap((match) => {
    const [before, after] = [text.slice(0, match.index), text.slice(match.index + match.text.length)];
    if (isLikelyNoDate(match, before, after)) return [];
    const apart = APART.exec(match.text);
    if (apart !== null) return datesApart(apart, now);
    const start = dateOf(match.start, match.text, now);
    if (start === null) return [];
    const end = match.end && dateOf(match.end, match.text, now);
    const range = end ? between(start, end) : openEnded(start, { before, after, text: match.text, now });
    return range === null ? [] : [range];
  });
}

const APART = /^(.+?) (before|after) (?!yesterday|tomorrow)(.+)$/i;

/** "Two weeks before August 11": the parser gives the date without a year one to come. */
function datesApart([, length = "", side, rest = ""]: RegExpExecArray, now: number): NamedDate[] {
  const [anchor] = datesOf(rest, now);
  if (anchor === undefined) return [];
  const { from } = anchor.at(0);
  const isBefore = side?.toLowerCase() === "before";
  const some = length.replace(/^(?:the|an?) /i, "1 ");
  const [date] =
    isBefore && /^the week$/i.test(length)
      ? [once(days(from - 7 * DAY, 7))]
      : datesOf(isBefore ? `${some} ago` : `in ${some}`, from);
  return date === undefined ? [] : [date, { ...anchor, isAnchor: true }];
}

const ROLLING = /^(?:last|past) .* \w+s$/i;
const TIME_BEFORE =
  /\b(?:in|on|since|during|until|till|before|after|from|last|past|this|throughout|around|early|late|mid|(?:all|week|weekend|days?) of)[\s-]+(?:the )?$/i;
/** Names of months that are names of people, or verbs. */
const OTHER_WORDS = /^(?:mar|march|may|april|june|august|jan|dec)$/i;
const SHORT_WEEKDAY = /^(?:on )?(?:sun|mon|wed|sat|tue|tues|thu|thurs?|fri)\.?$/i;

/** True if the words are likely not meant as a date: "may I", "we sat", "24/7", "in 10 minutes", "the last day of school". */
function isLikelyNoDate(match: ParsedDate, before: string, after: string): boolean {
  const { text, index } = match;
  if (isDistance(match) || /\b(?:every|each)\s+$/i.test(before)) return true;
  if (/^(?:last|past|this) \w+$/i.test(text) && /^ (?:of|before|after)\b/i.test(after)) return true;
  // Versions, addresses, ratios: with a year of four digits they are dates.
  if (/^[\d./]+$/.test(text)) return !/(?:^|\D)\d{4}(?:\D|$)/.test(text) || /[\w./-]$/.test(before);
  if (OTHER_WORDS.test(text)) return !TIME_BEFORE.test(before) || /^(?:'s|’s)/.test(after);
  if (SHORT_WEEKDAY.test(text))
    return !(/^on /i.test(text) || TIME_BEFORE.test(before)) || !/^\s*(?:[?.!,;)]|$)/.test(after);
  return index > 0 && /[$€£#]$/.test(before);
}

/** True for a time that is no day: "now", "in 10 minutes", "the weekend", "two days before" another event. */
function isDistance({ text, start }: ParsedDate): boolean {
  const tags = start.tags();
  return (
    tags.has("casualReference/now") ||
    (tags.has("result/relativeDateAndTime") && !/\bago$/i.test(text) && !ROLLING.test(text)) ||
    /^(?:the |on )*(?:weekends?|weekdays?|day (?:before|after))$/i.test(text) ||
    / (?:before|earlier)$/i.test(text) ||
    /^[+-]/.test(text)
  );
}

function dateOf(match: ParsedDate["start"], text: string, now: number): NamedDate | null {
  const today = new Date(Math.floor(now / DAY) * DAY);
  const partOf = (part: "year" | "month" | "day"): number => match.get(part) ?? 0;
  const [year, month, dayOfMonth] = [partOf("year"), partOf("month"), partOf("day")] as const;
  const day = new Date(Date.UTC(year, month - 1, dayOfMonth));
  const turn = /^(last|past|this) (week|weekend|month|quarter|year)$/i.exec(text);
  if (turn !== null) return turnOf(turn, today);
  if (/^this (?:morning|noon|afternoon|evening)$/i.test(text)) return once(SPANS.day(today));
  // "The last 3 days" go up to now.
  if (ROLLING.test(text)) return once({ from: day.getTime(), to: today.getTime() + DAY });
  // People do not count weeks to the day.
  if (/\bweeks? ago$/i.test(text)) return once(days(day.getTime() - 3 * DAY, 7));
  const grain = [...match.tags()].find(isGrain) ?? grainOf(match);
  if (grain === null) return null;
  if (match.isCertain("weekday") && !match.isCertain("day"))
    return weekdayOf(match.get("weekday") ?? 0, text, today);
  if (grain !== "year" && !match.isCertain("year"))
    return recurring(grain, month - 1, grain === "day" ? dayOfMonth : 1, now);
  if (grain === "day") return once(SPANS.day(day));
  return once(SPANS[grain](new Date(Date.UTC(year, grain === "year" ? 0 : month - 1))));
}

/** "This week", "last weekend". */
function turnOf([, which = "", of = ""]: RegExpExecArray, today: Date): NamedDate | null {
  const grain = of.toLowerCase();
  if (!isGrain(grain)) return null;
  const current = SPANS[grain](today);
  if (which.toLowerCase() === "this") return once(current);
  if (grain === "weekend") return once(days(current.from - 7 * DAY, 2));
  return once(SPANS[grain](new Date(current.from - DAY)));
}

/** The last such day of the week, today included; null for one to come. */
function weekdayOf(weekday: number, text: string, today: Date): NamedDate | null {
  if (/\blast week$/i.test(text)) return once(days(mondayOf(today) + (((weekday + 6) % 7) - 7) * DAY, 1));
  if (/^next\b/i.test(text)) return null;
  const since = (today.getUTCDay() - weekday + 7) % 7;
  const isToday = since === 0 && !/^(?:last|past)\b/i.test(text);
  return once(days(today.getTime() - (isToday ? 0 : since || 7) * DAY, 1));
}

/** The finest part of a date that was said. */
function grainOf(match: ParsedDate["start"]): Grain | null {
  if (match.isCertain("day") || match.isCertain("weekday")) return "day";
  if (match.isCertain("month")) return "month";
  return match.isCertain("year") ? "year" : null;
}

/** A date without its year: the last one that had begun, and those of the years before. */
function recurring(grain: Grain, month: number, day: number, now: number): NamedDate {
  const year = new Date(now).getUTCFullYear();
  const last = Date.UTC(year, month, day) > now ? year - 1 : year;
  return { at: (back) => SPANS[grain](new Date(Date.UTC(last - back, month, day))), recurs: true };
}

/** From one date to another. One without its year is the nearest to the other. */
function between(start: NamedDate, end: NamedDate): NamedDate | null {
  if (!start.recurs && end.recurs) {
    const { from } = start.at(0);
    const back = Array.from({ length: YEARS }, (_, i) => i).findLast((i) => end.at(i).from >= from);
    return back === undefined ? null : between(start, { at: () => end.at(back), recurs: false });
  }
  const at = (back: number): TimeSpan => {
    const { from, to } = end.at(back);
    const first = Array.from({ length: YEARS + 1 }, (_, i) => start.at(i).from).find((one) => one <= from);
    return { from: first ?? from, to };
  };
  return { at, recurs: end.recurs };
}

const OPENS =
  /\b(since|after|before|until|till|by|up to|prior to|from)\s+(?:the year |early |late |mid[ -])?(?:the )?$/i;

/** The range from or up to a date, if "since", "after", "before" or "until" is before it; otherwise the date itself. */
function openEnded(
  date: NamedDate,
  { before, after, text, now }: { before: string; after: string; text: string; now: number },
): NamedDate | null {
  const word = OPENS.exec(before)?.[1]?.toLowerCase();
  if (word === undefined) return date;
  const { from, to } = date.at(0);
  const end = Math.max(to, Math.floor(now / DAY) * DAY + DAY);
  if (word === "since" || (word === "from" && /^\s+(?:on|onwards?)\b/i.test(after)))
    return once({ from, to: end });
  if (word === "from") return date;
  if (word === "after") return once({ from: to, to: Math.max(end, to) });
  // A time to come is likely meant: "by December", "until Friday", "until the end of this month".
  if (
    (date.recurs && word === "by") ||
    /^(?:on )?[a-z]+day$/i.test(text.replace(/^yesterday$/i, "")) ||
    to > now
  )
    return null;
  return once({ from: EARLIEST, to: word === "before" || word === "prior to" ? from : to });
}
