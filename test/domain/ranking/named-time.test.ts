// The times that questions name, and the words that only look like one.
import { describe, expect, it } from "vitest";
import { namedTime, dateRatings } from "../../../src/domain/ranking/named-time.ts";

/** A Wednesday. */
const referenceDate = Date.UTC(2026, 10, 18, 15);
const EVER = "-271821-04-20";

const iso = (at: number) => new Date(at).toISOString();
const spansOf = (question: string, timeZone?: string) =>
  namedTime(question, { referenceDate, timeZone })?.spans.map(({ from, to }) => [iso(from), iso(to)]);
const midnight = (day: string) => `${day}T00:00:00.000Z`;

describe("a question names", () => {
  it.each<[question: string, from: string, to: string]>([
    ["what did I do today?", "2026-11-18", "2026-11-19"],
    ["what did I eat this morning?", "2026-11-18", "2026-11-19"],
    ["what did I say an hour ago?", "2026-11-18", "2026-11-19"],
    ["what did I do yesterday?", "2026-11-17", "2026-11-18"],
    ["the day before yesterday", "2026-11-16", "2026-11-17"],
    ["what did I watch last night?", "2026-11-17", "2026-11-18"],
    ["ten days ago", "2026-11-08", "2026-11-09"],
    ["what happened on 2026-10-03?", "2026-10-03", "2026-10-04"],
    ["what did she buy on 5/14/2022", "2022-05-14", "2022-05-15"],
    ["on Oct 3", "2026-10-03", "2026-10-04"],
    ["on the 3rd of March, 2023", "2023-03-03", "2023-03-04"],
    ["where was I May 7 2023", "2023-05-07", "2023-05-08"],
    ["last Friday", "2026-11-13", "2026-11-14"],
    ["last Wednesday", "2026-11-11", "2026-11-12"],
    ["on Wednesday", "2026-11-18", "2026-11-19"],
    ["last sat", "2026-11-14", "2026-11-15"],
    ["Monday of last week", "2026-11-09", "2026-11-10"],
    ["what happened last week", "2026-11-09", "2026-11-16"],
    ["this week's plan", "2026-11-16", "2026-11-23"],
    ["3 weeks ago", "2026-10-25", "2026-11-01"],
    ["a couple of weeks ago", "2026-11-01", "2026-11-08"],
    ["the week before last", "2026-11-01", "2026-11-08"],
    ["last weekend", "2026-11-14", "2026-11-16"],
    ["in the last 3 days", "2026-11-15", "2026-11-19"],
    ["in the last 24 hours", "2026-11-17", "2026-11-19"],
    ["over the past two weeks", "2026-11-04", "2026-11-19"],
    ["the week before August 3, 2023", "2023-07-27", "2023-08-03"],
    ["two weeks before August 11", "2026-07-25", "2026-08-01"],
    ["a month before May 2023", "2023-04-01", "2023-05-01"],
    ["two days after May 5", "2026-05-07", "2026-05-08"],
    ["later on the evening of 7 July, 2023", "2023-07-07", "2023-07-08"],
    ["last month", "2026-10-01", "2026-11-01"],
    ["2 months ago", "2026-09-01", "2026-10-01"],
    ["in Sept 2026", "2026-09-01", "2026-10-01"],
    ["in 2023-05", "2023-05-01", "2023-06-01"],
    ["Where did Alice work in March 2023?", "2023-03-01", "2023-04-01"],
    ["in March", "2026-03-01", "2026-04-01"],
    ["in December", "2025-12-01", "2026-01-01"],
    ["in May", "2026-05-01", "2026-06-01"],
    ["at the end of May", "2026-05-01", "2026-06-01"],
    ["last quarter", "2026-07-01", "2026-10-01"],
    ["in Q3 2025", "2025-07-01", "2025-10-01"],
    ["the second quarter of 2024", "2024-04-01", "2024-07-01"],
    ["last summer", "2026-06-01", "2026-09-01"],
    ["last autumn", "2025-09-01", "2025-12-01"],
    ["the spring of 2024", "2024-03-01", "2024-06-01"],
    ["winter 2024", "2024-12-01", "2025-03-01"],
    ["last year", "2025-01-01", "2026-01-01"],
    ["a year ago", "2025-01-01", "2026-01-01"],
    ["where did he live in 2025?", "2025-01-01", "2026-01-01"],
    ["in 2023 was he there", "2023-01-01", "2024-01-01"],
    ["in early 2023", "2023-01-01", "2024-01-01"],
    ["between May 5 and May 20", "2026-05-05", "2026-05-21"],
    ["between May 5 and May 20, 2023", "2023-05-05", "2023-05-21"],
    ["from March to May 2024", "2024-03-01", "2024-06-01"],
    ["from March 2023 to May", "2023-03-01", "2023-06-01"],
    ["from November to February", "2025-11-01", "2026-03-01"],
    ["between 2020 and 2022", "2020-01-01", "2023-01-01"],
    ["in 2020-2022", "2020-01-01", "2023-01-01"],
    ["since 2024", "2024-01-01", "2026-11-19"],
    ["since March", "2026-03-01", "2026-11-19"],
    ["since May", "2026-05-01", "2026-11-19"],
    ["from 2024 on", "2024-01-01", "2026-11-19"],
    ["after 3 October", "2026-10-04", "2026-11-19"],
    ["before 2020", EVER, "2020-01-01"],
    ["before June", EVER, "2026-06-01"],
    ["until yesterday", EVER, "2026-11-18"],
    ["until last week", EVER, "2026-11-16"],
    ["up to 2021", EVER, "2022-01-01"],
  ])("%s", (question, from, to) => {
    expect(spansOf(question)).toEqual([[midnight(from), midnight(to)]]);
  });

  it("two dates, each of them", () => {
    expect(spansOf("on May 5th or on June 3")).toEqual([
      [midnight("2026-05-05"), midnight("2026-05-06")],
      [midnight("2026-06-03"), midnight("2026-06-04")],
    ]);
  });

  it.each([
    "where do I live?",
    "what may I eat?",
    "May I come?",
    "we march on",
    "the March on Washington",
    "what did April do?",
    "June's party",
    "Summer is her name",
    "does it fall apart?",
    "how do I use Spring Boot?",
    "wait a second",
    "the second one",
    "the last minute",
    "last time",
    "I sat down",
    "the sun and the moon",
    "mon ami",
    "what do I do on weekdays?",
    "what do I do every Friday?",
    "what am I doing now?",
    "3 items",
    "version 2.4",
    "version 10.11.12",
    "v2.4.2023",
    "192.168.1.1",
    "call 555-2020-2022",
    "a ratio of 1/2",
    "open 24/7",
    "from 9 to 5",
    "at 5pm",
    "in 10 minutes",
    "for 3 days",
    "two days before the race",
    "the day before the race",
    "the last day of school",
    "room 1984",
    "port 2024",
    "between 2000 and 3000 dollars",
    "in 2000 steps",
    "tomorrow",
    "next week",
    "by December",
    "what must be done by Friday?",
    "until the end of this month",
  ])("no time: %s", (question) => {
    expect(spansOf(question)).toBeUndefined();
  });

  it("a time at either end of a long text, and none in its middle", () => {
    const filler = "some more words of it ".repeat(400);
    expect(spansOf(`what happened yesterday? ${filler}`)).toHaveLength(1);
    expect(spansOf(`${filler} what happened yesterday?`)).toHaveLength(1);
    expect(spansOf(`${filler} yesterday ${filler}`)).toBeUndefined();
  });
});

it("begins a day at the midnight of its time zone", () => {
  expect(spansOf("yesterday", "Asia/Tokyo")).toEqual([
    // It is the 19th there.
    ["2026-11-17T15:00:00.000Z", "2026-11-18T15:00:00.000Z"],
  ]);
  // A day of the clock change has 25 hours.
  expect(spansOf("on 2026-11-01", "America/New_York")).toEqual([
    ["2026-11-01T04:00:00.000Z", "2026-11-02T05:00:00.000Z"],
  ]);
});

it("takes any time for the reference, and counts back as far as the question does", () => {
  for (const at of [-1e18, -8.64e15, 0, 8.64e15, 1e18])
    for (const question of ["yesterday", "270000 years ago", "in March", "from May to June", "since 2024"])
      for (const timeZone of ["UTC", "Pacific/Apia"])
        for (const { from, to } of namedTime(question, { referenceDate: at, timeZone })?.spans ?? [])
          expect(from).toBeLessThan(to);
});

describe("a document is rated", () => {
  const matchOf = (question: string, at: number) => namedTime(question, { referenceDate })?.match(at);

  it("by half soon after a day, a week or a month, and not after a year", () => {
    expect(matchOf("in March", Date.UTC(2026, 2, 3))).toBe(1);
    expect(matchOf("in March", Date.UTC(2026, 3, 10))).toBe(0.5);
    expect(matchOf("in March", Date.UTC(2026, 1, 28))).toBe(0);
    expect(matchOf("in 2024", Date.UTC(2025, 0, 10))).toBe(0);
    expect(matchOf("before 2024", Date.UTC(2024, 0, 10))).toBe(0);
  });

  it("on the date that the time is counted from", () => {
    expect(matchOf("two weeks before August 11, 2023", Date.UTC(2023, 7, 11))).toBe(1);
    expect(matchOf("two weeks before August 11, 2023", Date.UTC(2023, 6, 20))).toBe(0);
  });

  it("in former years too, if the question names none", () => {
    expect(matchOf("in March", Date.UTC(2022, 2, 3))).toBe(1);
    expect(matchOf("in March 2023", Date.UTC(2022, 2, 3))).toBe(0);
    expect(matchOf("between March and May", Date.UTC(2022, 3, 3))).toBe(1);
  });

  it("by its validity, if it is a fact that changes", () => {
    const time = namedTime("in March 2023", { referenceDate });
    if (time === null) throw new Error("no time");
    const fact = (id: string, from: number, to = Infinity) => ({ createdAt: 0, validity: { id, from, to } });
    const [y2022, y2024] = [Date.UTC(2022, 0), Date.UTC(2024, 0)];
    expect(
      dateRatings(
        [fact("a", y2022, y2024), fact("a", y2024), fact("b", y2024), { createdAt: Date.UTC(2023, 2, 9) }],
        time,
      ),
    ).toEqual([0.5, -1, 0, 1]);
  });
});
