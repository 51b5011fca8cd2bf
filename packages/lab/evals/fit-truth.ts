// `npm run eval -- --fit --truth FILE`: fits the confidence to small stores, to paraphrases, and to the same questions where
// the store lacks their answers.
import { randomUUID } from "node:crypto";
import type { Cairn } from "#client/index.ts";
import { type ConfidenceWeights, signalNames } from "#domain/ranking/confidence.ts";
import type { EmbedderKind, RankingModel, RankingNumbers } from "#domain/ranking/weights.ts";
import {
  ANSWERABLE,
  type Asked,
  confidenceBy,
  fittedConfidence,
  NEAR_UNKNOWN,
  thresholdAt,
} from "./confidence.ts";
import type { Corpus } from "./dataset.ts";
import { progress } from "./demo/terminal.ts";
import { crossValidated } from "./fit.ts";
import { mean } from "./metrics.ts";
import { percent, printTable } from "../table.ts";
import type { TruthCase, TruthQuery } from "./truth-cases.ts";
import { write } from "./truth.ts";

const [SMALL_TALK, CUT] = ["small talk", "without its answer"];
const [TRUTH, PARAPHRASES] = ["truth", "paraphrases"];
/** Questions whose answers are left out of one store together: the other documents have to stay. */
const CUT_TOGETHER = 8;
/** The shares of answerable questions that the thresholds may cost. */
const LOST = { auto: 0.01, autoOfParaphrases: 0.11, strict: 0.027 };
const PENALTY = 0.0003;
/** Cases that are asked at once. */
const AT_ONCE = 4;

export type FittedConfidence = Pick<RankingModel, "confidence" | "threshold" | "strictThreshold">;

const answersOf = ({ first = [], within3 = [] }: TruthQuery): string[] => [...first, ...within3];

/** Topics of memories as cases. */
export const casesOf = (corpora: readonly Corpus[]): TruthCase[] =>
  corpora.map(({ name, memories, questions }) => ({
    id: name,
    kind: PARAPHRASES,
    memories: memories.map(({ id, text }) => ({ id, body: { text } })),
    threads: [],
    queries: questions.map(({ query, relevant }) => ({
      query,
      first: relevant.flatMap((part) => [...part]),
    })),
  }));

/**
 * The case once more for each few of its questions with an answer, without what answers them. A memory that may not be above the
 * answer goes too, as it states something on the matter; a message that may not is an echo, and stays.
 */
export function withoutAnswers(one: TruthCase): TruthCase[] {
  const queries = one.queries.filter((query) => answersOf(query).length > 0);
  return Array.from({ length: Math.ceil(queries.length / CUT_TOGETHER) }, (_, i) => {
    const asked = queries.slice(i * CUT_TOGETHER, (i + 1) * CUT_TOGETHER);
    const answers = new Set(asked.flatMap(answersOf));
    const below = new Set(asked.flatMap(({ notAbove = [] }) => notAbove));
    return {
      ...one,
      memories: one.memories.filter(({ id }) => !answers.has(id) && !below.has(id)),
      threads: one.threads
        .map((thread) => ({ ...thread, messages: thread.messages.filter(({ id }) => !answers.has(id)) }))
        .filter(({ messages }) => messages.length > 0),
      queries: asked.map(({ query, needs }) => ({ query, needs, abstain: true as const })),
    };
  });
}

/** The signals of each query, and of each with an answer once more where the store lacks it. */
export async function askedOf(client: Cairn, cases: readonly TruthCase[]): Promise<Asked[]> {
  const jobs = cases.flatMap((one) => [
    { one, lacks: false },
    ...withoutAnswers(one).map((cut) => ({ one: cut, lacks: true })),
  ]);
  const asked: Asked[][] = [];
  const draw = progress("asking", jobs.length);
  let done = 0;
  const left = jobs.entries();
  const askLeft = async (): Promise<void> => {
    for (const [i, { one, lacks }] of left) {
      asked[i] = await askedOfCase(client, one, lacks);
      draw(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askLeft));
  return asked.flat();
}

async function askedOfCase(client: Cairn, one: TruthCase, lacks: boolean): Promise<Asked[]> {
  const user = `eval-${randomUUID()}`;
  await write(client, user, one);
  const asked: Asked[] = [];
  for (const wanted of one.queries) {
    if ((wanted.needs ?? one.needs) !== undefined || (answersOf(wanted).length === 0 && !wanted.abstain))
      continue;
    const {
      confidence,
      signals = {},
      abstained = false,
    } = await client.recall(user, {
      query: wanted.query,
      k: 1,
      explain: true,
      answerable: "auto",
      ...(one.referenceDate !== undefined && { referenceDate: one.referenceDate }),
      ...(one.timeZone !== undefined && { timeZone: one.timeZone }),
    });
    const all = signalNames.map((name) => [name, signals[name] ?? 0] as const);
    asked.push({
      set: one.kind === PARAPHRASES ? PARAPHRASES : TRUTH,
      corpus: one.id,
      kind: lacks ? CUT : kindOf(one, wanted),
      confidence,
      abstained,
      // It has each of the names.
      signals: Object.fromEntries(all) as Asked["signals"],
    });
  }
  return asked;
}

const kindOf = ({ kind }: TruthCase, { abstain }: TruthQuery): string => {
  if (!abstain) return ANSWERABLE;
  return kind === "smalltalk" ? SMALL_TALK : NEAR_UNKNOWN;
};

const floor = (value: number): number => Math.floor(value * 100) / 100;

/** The thresholds that lose so many of the answerable, rounded down. */
export function thresholdsOf(
  all: readonly Asked[],
  confidences: readonly number[],
): Pick<RankingModel, "threshold" | "strictThreshold"> {
  const atOf = (set: string, lost: number): number => {
    const isOf = (_: unknown, i: number): boolean => all[i]?.set === set;
    const some = all.filter(isOf);
    return some.some(({ kind }) => kind === ANSWERABLE)
      ? thresholdAt(some, confidences.filter(isOf), lost)
      : 1;
  };
  const threshold = floor(Math.min(atOf(TRUTH, LOST.auto), atOf(PARAPHRASES, LOST.autoOfParaphrases)));
  return { threshold, strictThreshold: Math.max(threshold, floor(atOf(TRUTH, LOST.strict))) };
}

/** Small talk has no confidence by any weights. */
const fit = (all: readonly Asked[]): ConfidenceWeights =>
  fittedConfidence(
    all.filter(({ confidence }) => confidence > 0),
    PENALTY,
  );

/** Prints how many abstain, and how many of the answerable are lost: as it is, on cases that were not fitted, and fitted to all. */
export function printFittedTruth(all: readonly Asked[], before: RankingModel): FittedConfidence {
  const by = (weights: ConfidenceWeights) => all.map((one) => confidenceBy(one, weights));
  const held = crossValidated(all, fit, confidenceBy);
  const confidence = fit(all);
  const fitted = { confidence, ...thresholdsOf(all, by(confidence)) };
  const groups: [name: string, is: (one: Asked) => boolean][] = [
    ...[NEAR_UNKNOWN, SMALL_TALK].map((name): (typeof groups)[number] => [name, ({ kind }) => kind === name]),
    ...[TRUTH, PARAPHRASES].flatMap((name): typeof groups => [
      [`${name}, ${CUT}`, ({ set, kind }) => set === name && kind === CUT],
      [`${name}: lost`, ({ set, kind }) => set === name && kind === ANSWERABLE],
    ]),
  ];
  const row = (name: string, confidences: readonly number[], least: number): string[] => [
    `${name}, ${least.toFixed(2)}`,
    ...groups.map(([, is]) => {
      const silent = all.flatMap((one, i) => (is(one) ? Number((confidences[i] ?? 0) < least) : []));
      return silent.length === 0 ? "" : `${percent(mean(silent))} of ${silent.length}`;
    }),
  ];
  const ofHeld = thresholdsOf(all, held);
  printTable(
    ["% that abstain, threshold", ...groups.map(([name]) => name)],
    [
      row("in use, auto", by(before.confidence), before.threshold),
      row("in use, strict", by(before.confidence), before.strictThreshold),
      row("fitted to other cases, auto", held, ofHeld.threshold),
      row("fitted to other cases, strict", held, ofHeld.strictThreshold),
      row("fitted to all, auto", by(confidence), fitted.threshold),
      row("fitted to all, strict", by(confidence), fitted.strictThreshold),
    ],
  );
  // A 0 in the place of a weight in use.
  const zeros = Object.fromEntries(Object.keys(before.confidence).map((name) => [name, 0]));
  return { ...fitted, confidence: { ...zeros, ...confidence } };
}

/** The file of the numbers with a fitted confidence. The thresholds are those of both models. */
export const withConfidence = (
  numbers: RankingNumbers,
  embedder: EmbedderKind,
  { confidence, ...thresholds }: FittedConfidence,
): RankingNumbers => ({
  ...numbers,
  shared: { ...numbers.shared, ...thresholds },
  [embedder]: { ...numbers[embedder], confidence },
});
