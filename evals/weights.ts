// Other weights than the usual ones: what each part of a score is worth, and what weights chosen elsewhere give here.
import type { RecallBody } from "../client/src/index.ts";
import type { Corpus } from "./dataset.ts";
import type { Phrasing } from "./asked.ts";
import { mean, recallAt } from "./metrics.ts";
import type { Run } from "./table.ts";

export type Way = { name: string; weights?: NonNullable<RecallBody["weights"]>; phrasing?: Phrasing };

const parts = ["lexical", "soft", "vector", "speaker", "time"] as const;
const off = {
  lexical: 0,
  soft: 0,
  vector: 0,
  speaker: 0,
  length: 0,
  time: 0,
  key: 0,
  importance: 0,
  recency: 0,
};

export const CAIRN: Way = { name: "Cairn" };

/** Each way to find candidates alone, and all together. */
export const alone: readonly Way[] = [
  { name: "words", weights: { ...off, lexical: 1 } },
  { name: "words of similar meaning", weights: { ...off, soft: 1 } },
  { name: "vectors", weights: { ...off, vector: 1 } },
  CAIRN,
];

/** The usual weights, and the questions in other words. */
export const phrased = (phrasings: Readonly<Record<string, Phrasing>>): readonly Way[] =>
  Object.entries(phrasings).map(([name, phrasing]) => ({ name: `Cairn, ${name}`, phrasing }));

/** Everything but one part. */
export const without: readonly Way[] = parts.map((part) => ({
  name: `without ${part}`,
  weights: { [part]: 0 },
}));

/** The usual weights, and settings around them: each part at none, half, twice and four times its weight. */
export const settings: readonly Way[] = [
  CAIRN,
  ...parts.flatMap((part) =>
    [0, 0.5, 2, 4].map((factor) => ({ name: `${part} × ${factor}`, weights: { [part]: factor } })),
  ),
];

type Asked = { corpus: Corpus; runs: readonly Run[] };

/** For each corpus, what the setting gives there that is best on all the others (by R@10). */
export const heldOut = (all: readonly Asked[]): { corpus: Corpus; run: Run }[] =>
  all.map(({ corpus, runs }) => {
    const others = all.filter((one) => one.corpus !== corpus);
    const score = (name: string) =>
      mean(
        others.flatMap((other) => {
          const ranked = other.runs.find((run) => run.name === name)?.ranked ?? [];
          return other.corpus.questions.map(({ relevant }, i) => recallAt(ranked[i] ?? [], relevant, 10));
        }),
      );
    const best = settings
      .map(({ name }) => ({ name, score: score(name) }))
      .toSorted((a, b) => b.score - a.score)[0];
    const run = runs.find(({ name }) => name === best?.name);
    if (run === undefined) throw new Error("nothing was asked with the setting that was chosen");
    return { corpus, run: { ...run, name: `chosen on the others: ${run.name}` } };
  });
