// The pure parts of the evaluation: its measures, its fits, and what makes it fail.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { foreignTo } from "../../../../packages/lab/evals/abstain.ts";
import { type Answered, failures } from "../../../../packages/lab/evals/compare.ts";
import {
  type Asked,
  balanced,
  fittedConfidence,
  thresholdAt,
} from "../../../../packages/lab/evals/confidence.ts";
import type { Corpus } from "../../../../packages/lab/evals/dataset.ts";
import { crossValidated, type Explained, fitted, reranked } from "../../../../packages/lab/evals/fit.ts";
import { thresholdsOf, withConfidence, withoutAnswers } from "../../../../packages/lab/evals/fit-truth.ts";
import {
  auc,
  interval,
  mean,
  pairedDifference,
  randomBelow,
  reciprocalRank,
} from "../../../../packages/lab/evals/metrics.ts";
import { shareIn, truthFailures } from "../../../../packages/lab/evals/print-truth.ts";
import { isRight, judgeFts5 } from "../../../../packages/lab/evals/truth.ts";
import { readTruth, runsOf, truthFile, writtenIn } from "../../../../packages/lab/evals/truth-cases.ts";
import { confidenceOf, signalNames, type Signals } from "../../../../src/domain/ranking/confidence.ts";
import { recallSettings } from "../../../../src/platform/recall-settings.ts";
import { type RankingWeights, rankingNumbers } from "../../../../src/domain/ranking/weights.ts";

const below = randomBelow(7);
const random = () => below(1_000_000) / 1_000_000;
const times = <Item>(n: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: n }, (_, i) => make(i));
const parts = (...ids: string[]) => ids.map((id) => new Set([id]));

describe("measures", () => {
  it("count the rank of the first relevant id", () => {
    expect(reciprocalRank(["a", "b", "c"], parts("c", "b"))).toBe(1 / 2);
    expect(reciprocalRank(["a"], parts("b"))).toBe(0);
  });

  it("have the same interval for the same figures, about as wide as a normal distribution says", () => {
    const values = times(400, () => (random() < 0.3 ? 1 : 0));
    const [low, high] = interval(values);
    expect(interval(values)).toEqual([low, high]);
    const deviation = Math.sqrt((mean(values) * (1 - mean(values))) / values.length);
    expect(low).toBeCloseTo(mean(values) - 1.96 * deviation, 1);
    expect(high).toBeCloseTo(mean(values) + 1.96 * deviation, 1);
    expect(high - low).toBeGreaterThan(3 * deviation);
  });

  it("compare two ways by each question, however much the questions differ", () => {
    const theirs = times(50, (i) => i % 2);
    const ours = theirs.map((one) => one + 0.1);
    const difference = pairedDifference(ours, theirs);
    expect(difference.mean).toBeCloseTo(0.1);
    for (const bound of difference.interval) expect(bound).toBeCloseTo(0.1);
  });

  it("tell how well a value separates two classes", () => {
    expect(auc([2, 3], [0, 1])).toBe(1);
    expect(auc([0, 1], [2, 3])).toBe(0);
    expect(auc([1, 3], [1, 2])).toBe(0.625);
  });
});

describe("a fit of weights", () => {
  const none: RankingWeights = { memory: {}, people: {}, assistant: {} };
  const truth: RankingWeights = {
    memory: { soft: 4, vector: 2 },
    people: {},
    assistant: { soft: 5, length: -3 },
  };
  const sum = (kind: "memory" | "assistant", own: Record<string, number>) =>
    Object.entries(truth[kind]).reduce((all, [name, weight]) => all + weight * (own[name] ?? 0), 0);
  /** The relevant hit is drawn by the probabilities that the weights give. */
  const question = (i: number): Explained => {
    const hits = times(12, (place) => ({
      id: String(place),
      kind: place % 2 === 0 ? ("memory" as const) : ("assistant" as const),
      features: { soft: random(), vector: random(), length: random(), words: random() },
    }));
    const shares = hits.map(({ kind, features }) => Math.exp(sum(kind, features)));
    let left = random() * shares.reduce((all, one) => all + one, 0);
    const drawn = shares.findIndex((share) => (left -= share) <= 0);
    return { set: "one", corpus: String(i % 5), relevant: parts(String(drawn)), hits };
  };
  const all = times(1500, question);

  it("finds the weights that the data follow, and leaves the others at 0 or nearly so", () => {
    const { memory, assistant } = fitted(all, none, { l1: 0.003 });
    expect(memory.soft).toBeGreaterThan(3.2);
    expect(memory.soft).toBeLessThan(4.5);
    expect(memory.vector).toBeGreaterThan(1.4);
    expect(memory.vector).toBeLessThan(2.6);
    expect(assistant.length).toBeLessThan(-2.2);
    expect(assistant.soft).toBeGreaterThan(4);
    // It could only count against a candidate.
    expect(memory.length).toBeCloseTo(0);
    for (const weight of [memory.words, assistant.words, assistant.vector]) expect(weight).toBeLessThan(0.4);
  });

  it("keeps the weights of what hardly differs, and drops what it is told to", () => {
    const before: RankingWeights = { ...none, memory: { key: 6, vector: 1 }, people: { soft: 2 } };
    const few = all.slice(0, 300);
    const { memory, people } = fitted(few, before, { l1: 0.003, without: "vector" });
    expect(memory).toMatchObject({ key: 6, vector: 0 });
    expect(people.soft).toBe(2);
  });

  it("ranks each conversation by what was fitted to the others", () => {
    const seen: string[][] = [];
    const ranked = crossValidated(
      all.slice(0, 50),
      (others) => {
        seen.push([...new Set(others.map(({ corpus }) => corpus))]);
        return truth;
      },
      reranked,
    );
    expect(seen).toHaveLength(5);
    expect(seen.every((corpora) => corpora.length === 4)).toBe(true);
    expect(ranked).toEqual(all.slice(0, 50).map((one) => reranked(one, truth)));
  });
});

describe("a fit of the confidence", () => {
  const truth = { bias: -3, soft: 4, cosine: 2 };
  const asked = times(2000, (i) => {
    const signals = Object.fromEntries(signalNames.map((name) => [name, random()])) as Signals;
    const kind = random() < confidenceOf(signals, truth) ? "answerable" : "foreign";
    return { set: i % 4 === 0 ? "small" : "large", kind, signals };
  });

  it("finds the weights that the data follow, and drops what brings nothing", () => {
    const weights = fittedConfidence(asked, 0.003);
    expect(weights.soft).toBeGreaterThan(3);
    expect(weights.soft).toBeLessThan(5);
    expect(weights.cosine).toBeGreaterThan(1.2);
    expect(weights.cosine).toBeLessThan(2.8);
    for (const name of ["softNear", "task", "date"] as const) expect(weights[name] ?? 0).toBeLessThan(0.4);
  });

  it("weighs the answerable like all others, and a small set more than its number", () => {
    const weights = balanced(asked);
    const total = (is: (one: (typeof asked)[number]) => boolean) =>
      asked.reduce((all, one, i) => all + (is(one) ? (weights[i] ?? 0) : 0), 0);
    expect(total(({ kind }) => kind === "answerable")).toBeCloseTo(0.5);
    expect(total(({ set }) => set === "small")).toBeGreaterThan(0.3);
  });

  it("loses as many answerable questions below its threshold as it is told to", () => {
    const all: Pick<Asked, "kind">[] = [
      ...times(100, () => ({ kind: "answerable" })),
      ...times(50, () => ({ kind: "foreign" })),
    ];
    const confidences = all.map((_, i) => (i < 100 ? i / 100 : 0));
    expect(thresholdAt(all, confidences, 0.03)).toBe(0.03);
  });
});

describe("a fit of the confidence to small stores", () => {
  const [one] = truthFile.parse([
    {
      id: "update-1",
      kind: "update",
      memories: [
        { id: "old", body: { text: "The tap drips." } },
        { id: "new", body: { text: "The tap is mended." } },
        { id: "other", body: { text: "The door sticks." } },
      ],
      threads: [{ id: "t", messages: [{ id: "asked", role: "user", content: "Does the tap drip?" }] }],
      queries: [
        { query: "Does the tap drip?", first: ["new"], notAbove: ["old", "asked"] },
        { query: "Who mended the tap?", abstain: true },
      ],
    },
  ]);

  it("asks a question once more where nothing answers it, and leaves echoes and other matters there", () => {
    const [cut, ...others] = one === undefined ? [] : withoutAnswers(one);
    expect(others).toEqual([]);
    expect(cut?.memories.map(({ id }) => id)).toEqual(["other"]);
    expect(cut?.threads.flatMap(({ messages }) => messages.map(({ id }) => id))).toEqual(["asked"]);
    expect(cut?.queries).toEqual([{ query: "Does the tap drip?", abstain: true }]);
  });

  it("leaves most documents where they are, however many questions a store has", () => {
    const queries = times(20, (i) => ({ query: `Question ${i}?`, first: [`m${i}`] }));
    const memories = times(20, (i) => ({ id: `m${i}`, body: { text: `Fact ${i}.` } }));
    const cuts = withoutAnswers({ id: "a-1", kind: "a", memories, threads: [], queries });
    expect(cuts.flatMap((cut) => cut.queries)).toHaveLength(20);
    for (const cut of cuts) expect(cut.memories.length).toBeGreaterThanOrEqual(12);
  });

  it("has thresholds that lose so many of both sets, and a strict one that is no lower", () => {
    const signals = Object.fromEntries(signalNames.map((name) => [name, 0])) as Signals;
    const asked = (set: string, count: number): Asked[] =>
      times(count, (i) => ({
        set,
        corpus: `${i}`,
        kind: "answerable",
        confidence: 1,
        abstained: false,
        signals,
      }));
    const all = [...asked("truth", 100), ...asked("paraphrases", 100)];
    const grown = (truth: number) => all.map((_, i) => (i < 100 ? truth + i / 200 : (i - 100) / 200));
    expect(thresholdsOf(all, grown(0))).toEqual({ threshold: 0, strictThreshold: 0.01 });
    expect(thresholdsOf(all, grown(0.4))).toEqual({ threshold: 0.05, strictThreshold: 0.41 });
    expect(thresholdsOf(all.slice(0, 100), grown(0))).toEqual({ threshold: 0, strictThreshold: 0.01 });
  });

  it("prints what RECALL_WEIGHTS takes, and writes no number more than the file has", () => {
    const found = { confidence: { bias: -3, soft: 4, task: 0 }, threshold: 0.2, strictThreshold: 0.3 };
    expect(recallSettings({ RECALL_WEIGHTS: JSON.stringify(found) }, false).problems).toEqual([]);
    const written = withConfidence(rankingNumbers, "static", found);
    expect(written.shared).toEqual({ ...rankingNumbers.shared, threshold: 0.2, strictThreshold: 0.3 });
    expect(written.static).toEqual({ ...rankingNumbers.static, confidence: found.confidence });
    expect(written.contextual).toEqual(rankingNumbers.contextual);
  });

  it("weighs what is almost known three times", () => {
    const kinds = ["answerable", "near-unknown", "foreign"].map((kind) => ({ set: "a", kind }));
    const [, near = 0, foreign = 0] = balanced(kinds);
    expect(near).toBeCloseTo(3 * foreign);
  });
});

describe("foreign questions", () => {
  const corpus = (name: string, count: number): Corpus => ({
    name,
    set: "a set",
    sessions: [],
    memories: [],
    questions: times(count, (i) => ({ query: `${name} ${i}`, relevant: parts("a"), category: "" })),
    unanswerable: [],
  });

  it("are of other conversations, at most 40, and the same each time", () => {
    const own = corpus("a", 30);
    const all = [own, corpus("b", 30), corpus("c", 30)];
    const foreign = foreignTo(own, all);
    expect(new Set(foreign).size).toBe(40);
    expect(foreign.some((query) => query.startsWith("a"))).toBe(false);
    expect(foreignTo(own, all)).toEqual(foreign);
    expect(foreignTo(own, [own])).toEqual([]);
  });
});

describe("the evaluation", () => {
  /** `found`: for each way and question, true if it found the answer. */
  const answered = (
    category: (i: number) => string,
    found: Record<string, (i: number) => boolean>,
  ): Answered => ({
    set: "a set",
    questions: times(40, (i) => ({ query: String(i), relevant: parts("answer"), category: category(i) })),
    runs: Object.entries(found).map(([name, is]) => ({
      name,
      ranked: times(40, (i) => (is(i) ? ["answer"] : [])),
      times: [],
    })),
  });
  const [always, never] = [() => true, () => false];

  it("fails where plain FTS5 finds more, and names the set and the figures", () => {
    const found = { "plain FTS5": always, vectors: never, Cairn: (i: number) => i % 4 !== 0 };
    const [sentence, ...others] = failures(answered(() => "", found));
    expect(sentence).toMatch(/^a set: R@10 of Cairn is 75\.0, and that of plain FTS5 100\.0: −25\.0 \(/);
    expect(others).toEqual([]);
  });

  it("fails where plain FTS5 finds more of one kind, if the kind has enough questions", () => {
    const found = (lost: number) => ({
      "plain FTS5": always,
      vectors: never,
      Cairn: (i: number) => i >= lost,
    });
    const of = (lost: number) =>
      failures(
        answered((i) => (i < lost ? "dates" : "names"), { ...found(lost), "plain FTS5": (i) => i < lost }),
      );
    expect(of(5)).toEqual([expect.stringMatching(/^a set, dates: R@10 of Cairn is 0\.0/)]);
    expect(of(4)).toEqual([]);
  });

  it("fails where an arm alone finds more, and not where the difference may be chance", () => {
    const arm = (lost: number) => ({ "plain FTS5": never, vectors: always, Cairn: (i: number) => i >= lost });
    expect(failures(answered(() => "", arm(10)))).toHaveLength(3);
    expect(failures(answered(() => "", arm(1)))).toEqual([]);
  });
});

describe("the truth set", () => {
  const cases = readTruth(join(import.meta.dirname, "../../../../packages/lab/evals/truth.json"));
  const own = (queries: object[]) => [
    {
      id: "echo-1",
      kind: "echo",
      memories: [
        { id: "old", body: { text: "The tap drips.", createdAt: 1 } },
        { id: "new", body: { text: "The tap is mended.", createdAt: 2 } },
      ],
      queries,
    },
  ];

  it("has cases and queries of every kind, each case under a name of its own", () => {
    expect(cases.length).toBeGreaterThanOrEqual(80);
    expect(cases.flatMap(({ queries }) => queries).length).toBeGreaterThanOrEqual(160);
    const kinds = "echo update alike time unknown smalltalk together speakers names lists languages agents";
    expect([...new Set(cases.map(({ kind }) => kind))]).toEqual(kinds.split(" "));
    expect(new Set(cases.map(({ id }) => id)).size).toBe(cases.length);
    for (const { id, kind } of cases) expect(id).toMatch(new RegExp(`^${kind}-\\d+$`));
  });

  it("says nothing after the date on which it is asked", () => {
    const late = cases.filter(({ referenceDate = 0, memories, threads }) =>
      [...memories.map(({ body }) => body), ...threads.flatMap(({ messages }) => messages)].some(
        ({ createdAt = Infinity }) => createdAt > referenceDate,
      ),
    );
    expect(late.map(({ id }) => id)).toEqual([]);
  });

  it.each([
    ["names what nobody wrote", { query: "tap?", first: ["other"] }],
    ["expects nothing", { query: "tap?" }],
    ["expects an answer and none", { query: "tap?", first: ["new"], abstain: true }],
    ["wants a document and does not", { query: "tap?", first: ["new"], notAbove: ["new"] }],
    ["has notAbove without an answer", { query: "tap?", abstain: true, notAbove: ["old"] }],
    ["wants four among the first three", { query: "tap?", within3: ["old", "new", "old", "new"] }],
    ["has a field of no format", { query: "tap?", frist: ["new"] }],
  ])("refuses a query that %s", (_, query) => {
    expect(truthFile.safeParse(own([query])).success).toBe(false);
  });

  it("calls a query right if all that it expects holds, and names each share below its bound", async () => {
    const queries = [
      {
        query: "mended",
        first: ["new"],
        notAbove: ["old"],
        block: { has: ["IS MENDED"], hasNot: ["drips"] },
      },
      { query: "tap drips", first: ["new"] },
      { query: "tap drips", within3: ["old", "new"] },
      { query: "tap drips", first: ["new", "old"], block: { hasNot: ["drips"] } },
      { query: "👍", abstain: true },
      { query: "moon", first: ["new"] },
      { query: "moon", first: ["new"], needs: "multilingual" },
    ];
    const judged = await judgeFts5(truthFile.parse(own(queries)));
    expect(judged.map(isRight)).toEqual([true, false, true, false, true, false, false]);
    expect(judged[5]?.checks).toEqual({ first: false, kept: false });
    expect(truthFailures(judged, { right: 0.5, kind: 0.5 })).toEqual([]);
    expect(truthFailures(judged, { right: 0.4, kind: 0.6 })).toEqual([
      "echo: 50.0 % are right, below 60.0 %",
    ]);
    // The lines beside the answer, and all lines where none may be.
    expect(judged.map(({ unrelated, strict }) => [unrelated, strict])).toEqual([
      [0, true],
      [1, true],
      [0, true],
      [0, true],
      [0, true],
      [0, false],
      [0, false],
    ]);
  });

  it("takes a bound only if it is a share from 0 to 1", () => {
    expect(["0", "0.8", "1", "1e-1"].map(shareIn)).toEqual([0, 0.8, 1, 0.1]);
    expect(["", " ", "80", "-0.1", "1.01", "NaN", "Infinity", "80 %", "0,8"].map(shareIn)).toEqual(
      Array.from({ length: 9 }, () => null),
    );
  });

  it("writes what follows one another in one call, and nothing before what was written before it", () => {
    for (const one of cases) {
      const runs = runsOf(writtenIn(one));
      expect(runs.flat()).toEqual(writtenIn(one));
      for (const run of runs) expect(new Set(run.map(({ thread }) => thread)).size).toBe(1);
    }
  });
});
