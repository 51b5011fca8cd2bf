// The ranking of candidates: pure, over a word model of a few words whose meaning is written out here.
import fc from "fast-check";
import { expect, it } from "vitest";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { distinctPieces } from "../../../src/domain/ranking/lexicon.ts";
import { namedTime, dateRatings } from "../../../src/domain/ranking/named-time.ts";
import { type Candidate, poolOf } from "../../../src/domain/ranking/pool.ts";
import { mentions } from "../../../src/domain/ranking/question.ts";
import { withPairs } from "../../../src/domain/ranking/pairs.ts";
import { rank, type Weights } from "../../../src/domain/ranking/rank.ts";
import { rankingModels } from "../../../src/domain/ranking/weights.ts";

const WORDS = ["dog", "puppy", "car", "truck", "ferry", "boat", "blue", "walk", "22", "27", "20"];
/** Words in pairs mean nearly the same. A year is two pieces. */
const lexicon: Lexicon = {
  model: "pairs",
  size: WORDS.length,
  pieces: (text) =>
    (text.toLowerCase().match(/20|\d+|[a-z]+/g) ?? [])
      .map((word) => WORDS.indexOf(word))
      .filter((piece) => piece >= 0),
  correction: () => null,
  dimensions: WORDS.length,
  addRow: (sum, piece, weight) => void (sum[piece] = (sum[piece] ?? 0) + weight),
  length: () => 1,
  compare: (pieces, others) =>
    pieces.map((piece) =>
      Float32Array.from(others, (i) =>
        i === piece ? 1 : Math.floor(i / 2) === Math.floor(piece / 2) ? 0.8 : 0,
      ),
    ),
};
const words = { lexicon, frequencies: { size: 100, holding: () => 5 } };
const THREAD = 2 ** 31;
/** A sentence of six pieces, none of which is like those of a boat. */
const LONG = "we walk the blue dog, the puppy takes the car, then a truck";
const found = (n: number, text: string, more: Partial<Candidate> = {}): Candidate => ({
  n,
  isMessage: n >= THREAD,
  text,
  role: n >= THREAD ? "user" : null,
  speaker: n >= THREAD ? "Ann" : null,
  createdAt: 0,
  pieces: distinctPieces(lexicon, text),
  words: 0,
  cosine: undefined,
  key: 0,
  date: 0,
  importance: 0,
  ...more,
});
const sameThread = (a: number, b: number) =>
  a >= THREAD && b >= THREAD && Math.floor(a / THREAD) === Math.floor(b / THREAD);
const order = (query: string, all: Candidate[], weights: Weights = {}, now = 0) =>
  rank(
    { text: query, now },
    poolOf(all, { sameThread, beside: (n, step) => (sameThread(n, n + step) ? n + step : null) }),
    { words, model: rankingModels.static, weights },
  ).ranked;
const first = (...given: Parameters<typeof order>) => order(...given)[0]?.n;

it("finds a word by one that means nearly the same", () => {
  expect(first("the puppy", [found(1, "a blue car"), found(2, "we walk the dog")])).toBe(2);
});

it("finds a number by itself, and not by another that looks like it", () => {
  const boat = found(1, "a boat");
  expect(first("the ferry of 2022", [boat, found(2, "in 2027")])).toBe(1);
  expect(first("the ferry of 2022", [boat, found(2, "in 2022")])).toBe(2);
});

it("lends a message what its neighbours say, and not what another thread says", () => {
  const answer = [
    found(THREAD + 1, "which boat?"),
    found(THREAD + 2, "the one at nine"),
    found(3 * THREAD + 1, "at nine"),
  ];
  const ranked = order("the ferry", answer).map(({ n }) => n);
  expect(ranked.indexOf(THREAD + 2)).toBeLessThan(ranked.indexOf(3 * THREAD + 1));
});

it("counts a word of the same meaning nearby for more than half of what it counts in its place", () => {
  const boat = found(THREAD + 1, `${LONG}, the boat`, { cosine: 0 });
  const beside = found(THREAD + 2, LONG, { cosine: 0 });
  const elsewhere = found(3 * THREAD + 1, LONG, { cosine: 0 });
  const { ranked } = rank(
    { text: "the ferry", now: 0 },
    poolOf([boat, beside, elsewhere], {
      sameThread,
      beside: (n, step) => (sameThread(n, n + step) ? n + step : null),
    }),
    { words, model: rankingModels.static, explain: true },
  );
  const soft = new Map(ranked.map(({ n, explanation }) => [n, explanation?.features.softNear ?? 0]));
  expect(ranked.map(({ n }) => n)).toEqual([boat.n, beside.n, elsewhere.n]);
  expect(soft.get(beside.n)).toBeGreaterThan((soft.get(boat.n) ?? 1) / 2);
  expect(soft.get(beside.n)).toBeLessThanOrEqual((soft.get(boat.n) ?? 0) * 0.8);
  expect(soft.get(elsewhere.n)).toBe(0);
});

it("prefers a message beside one of the same meaning, also after a pause of hours", () => {
  const DAY = 24 * 3_600_000;
  const said = (n: number, text: string, createdAt: number) => found(n, text, { cosine: 0, createdAt });
  const boat = said(THREAD + 1, "we take the boat tomorrow morning", 0);
  const beside = said(THREAD + 2, LONG, DAY);
  // The later of two equals goes first.
  const elsewhere = said(3 * THREAD + 1, LONG, DAY);
  const ranked = order("the ferry", [boat, beside, elsewhere], {}, 2 * DAY).map(({ n }) => n);
  expect(ranked).toEqual([boat.n, beside.n, elsewhere.n]);
});

it.each([
  ["a sentence", LONG],
  ["a sentence of another script", "выходим отсюда рано утром"],
  ["a sentence of a script without spaces", "明天早上从那里出发"],
  ["a sentence of a script without spaces, with a number", "明天早上22点从那里出发"],
])("lends %s more than two numbers", (_, sentence) => {
  const ferry = (n: number) => found(n, "the ferry");
  const answer = [ferry(THREAD + 1), found(THREAD + 2, "Noted: 22 or 27."), ferry(3 * THREAD + 1)];
  const ranked = order("the ferry", [...answer, found(3 * THREAD + 2, sentence)]).map(({ n }) => n);
  expect(ranked.indexOf(3 * THREAD + 2)).toBeLessThan(ranked.indexOf(THREAD + 2));
});

it("puts a fact before the questions that asked for it, unless the query is about questions", () => {
  const asked = (n: number, text: string) => found(n, text, { speaker: null, cosine: 1, words: 3 });
  const fact = found(1, "Ann has a puppy", { cosine: 0.5, words: 1 });
  const all = [
    fact,
    asked(THREAD + 1, "What dog does Ann have?"),
    asked(THREAD + 2, "Remind me: which dog is it?"),
    asked(3 * THREAD + 1, "Which dog? Is it blue?"),
  ];
  expect(first("What dog does Ann have?", all)).toBe(fact.n);
  expect(first("Which dog did I ask for?", all)).not.toBe(fact.n);
});

it("takes what a user says before the long answer of an assistant", () => {
  const said = found(THREAD + 1, "I walk the dog in the blue car park", { speaker: null, words: 3 });
  const answer = found(3 * THREAD + 1, `The dog: walk it. ${"Blue skies help. ".repeat(200)}`, {
    role: "assistant",
    speaker: null,
    words: 3,
  });
  expect(first("where do I walk the dog?", [said, answer])).toBe(said.n);
});

it("names the part of the question that a key is", () => {
  const cat = found(1, "the puppy is called Bo", { cosine: 0.6 });
  const name = found(2, "name: Ann Ferreira", { cosine: 0.3, key: 0.2 });
  expect(first("what is the name of the dog?", [cat, name])).toBe(cat.n);
  expect(first("what is my name?", [cat, { ...name, key: 1 }])).toBe(name.n);
});

it("prefers who the question is about", () => {
  const said = (n: number, speaker: string) => found(n, `${speaker}: the dog`, { speaker });
  expect(first("What dog does Ann have?", [said(THREAD + 1, "Ann"), said(3 * THREAD + 1, "Bob")])).toBe(
    THREAD + 1,
  );
  // Of two who are named, neither.
  const [a, b] = order("Do Ann and Bob walk?", [said(THREAD + 1, "Ann"), said(3 * THREAD + 1, "Bob")]);
  expect(a?.score).toBe(b?.score);
});

it("prefers what was said when the question says", () => {
  const now = Date.UTC(2026, 4, 9, 12);
  const firstOf = (query: string, times: readonly number[]) => {
    const time = namedTime(query, { referenceDate: now });
    const dates =
      time === null
        ? []
        : dateRatings(
            times.map((createdAt) => ({ createdAt })),
            time,
          );
    return first(
      query,
      dates.map((date, i) => found(i + 1, "the boat", { date })),
    );
  };
  expect(firstOf("the boat in May 2023", [Date.UTC(2023, 3, 9), Date.UTC(2023, 4, 9)])).toBe(2);
  expect(firstOf("the boat yesterday", [Date.UTC(2026, 4, 5), Date.UTC(2026, 4, 8, 5)])).toBe(2);
});

it("leaves out what a caller gives no weight", () => {
  const all = [found(1, "the dog", { words: 3 }), found(2, "a puppy", { cosine: 0.9 })];
  expect(first("the dog", all, { vector: 0, soft: 0 })).toBe(1);
  expect(first("the dog", all, { lexical: 0, soft: 0 })).toBe(2);
});

it("scores what answers nothing low, and what says the question high", () => {
  expect(order("the dog", [found(1, "the dog", { cosine: 1, words: 5 })])[0]?.score).toBeCloseTo(1, 1);
  expect(order("the dog", [found(1, "a truck", { cosine: 0.1 })])[0]?.score).toBeLessThan(0.2);
});

it("keeps every candidate once, best first, with scores from 0 to 1, whatever comes", () => {
  const candidate = fc.record({
    n: fc.oneof(
      fc.nat(20),
      fc.nat(20).map((i) => THREAD + i),
    ),
    text: fc.array(fc.constantFrom(...WORDS, "what?"), { maxLength: 5 }).map((list) => list.join(" ")),
    createdAt: fc.nat(),
    words: fc.double({ min: 0, max: 20, noNaN: true }),
    cosine: fc.option(fc.double({ min: -1, max: 1, noNaN: true }), { nil: undefined }),
    importance: fc.double({ min: 0, max: 1, noNaN: true }),
    key: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(
      fc.uniqueArray(candidate, { selector: ({ n }) => n }),
      fc.constantFrom("dog", "when did Ann walk?", ""),
      (all, query) => {
        const ranked = order(
          query,
          all.map(({ n, text, ...more }) => found(n, text, more)),
        );
        expect(ranked.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual(
          all.map(({ n }) => n).toSorted((a, b) => a - b),
        );
        const scores = ranked.map(({ score }) => score);
        expect(scores).toEqual(scores.toSorted((a, b) => b - a));
        for (const score of scores) expect(score >= 0 && score <= 1).toBe(true);
      },
    ),
  );
});

it("sees a name as a word only", () => {
  expect(mentions("did ann walk?", "Ann")).toBe(true);
  expect(mentions("did joanna walk?", "Ann")).toBe(false);
  expect(mentions("the same as sam", "Sam")).toBe(true);
  expect(mentions("anything", "")).toBe(false);
});

const twoHits = {
  hits: [
    { n: 1, score: 0.4 },
    { n: 2, score: 0.2 },
  ],
  confidence: 0.4,
};

it("turns the first two hits round by the scores of pairs, and moves the confidence with the best", () => {
  const raised = withPairs(twoHits, [0.1, 0.9], 2);
  expect(raised.hits.map(({ n }) => n)).toEqual([2, 1]);
  expect(raised.confidence).toBeGreaterThan(0.4);
  expect(raised.hits[0]?.score).toBeCloseTo(raised.confidence);
  const lowered = withPairs(twoHits, [0.1, 0.1], 2);
  expect(lowered.hits.map(({ n }) => n)).toEqual([1, 2]);
  expect(lowered.confidence).toBeLessThan(0.4);
  // Two hits with equal scores of pairs keep their distance.
  expect((lowered.hits[1]?.score ?? 0) / (lowered.hits[0]?.score ?? 1)).toBeCloseTo(0.5);
});

it("changes nothing by pairs that neither speak for nor against", () => {
  for (const [scores, weight] of [
    [[0.5, 0.5], 4],
    [[0.1, 0.9], 0],
  ] as const) {
    const same = withPairs(twoHits, scores, weight);
    expect(same.confidence).toBeCloseTo(0.4);
    expect(same.hits.map(({ score }) => score)).toEqual([expect.closeTo(0.4), expect.closeTo(0.2)]);
  }
});
