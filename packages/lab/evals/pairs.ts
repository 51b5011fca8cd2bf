// `npm run eval -- --pairs WHICH`: what scores of question and hit together would change, for each of some weights.
import { randomUUID } from "node:crypto";
import type { Cairn, RecallAnswer } from "#client/index.ts";
import { isSmallTalk } from "#domain/context/small-talk.ts";
import { withPairs } from "#domain/ranking/pairs.ts";
import { StatementReader } from "#domain/ranking/statements.ts";
import type { RankingModel } from "#domain/ranking/weights.ts";
import type { Told } from "./ask.ts";
import { progress } from "./demo/terminal.ts";
import { mean, measures } from "./metrics.ts";
import { percent, printTable } from "../table.ts";
import { write } from "./truth.ts";
import type { TruthCase } from "./truth-cases.ts";

/**
 * `words`: the share of the question's telling words that a hit has, which reads nothing. `labels`: 0.9 for a right hit and 0.1 for
 * any other, which no model reaches. `deployment`: the reranker of the Cairn that is asked.
 */
const scorers = ["words", "labels", "deployment"] as const;
export type PairScorer = (typeof scorers)[number];
export const pairScorerIn = (name: string): PairScorer | undefined => scorers.find((one) => one === name);

type Hit = { id: string; score: number; pair: number };
/** One question: its hits, and the parts of its answer; none for a question that nothing answers. `isTalk`: it asks nothing. */
type Asked = {
  set: string;
  hits: readonly Hit[];
  confidence: number;
  isTalk: boolean;
  relevant: readonly ReadonlySet<string>[];
};

const WEIGHTS = [0, 1, 2, 4, 8, 16];
/** Hits that a reranker reads. */
const READ = 30;
const AT_ONCE = 4;
const [RIGHT, WRONG] = [0.9, 0.1];

type Question = { query: string; relevant: readonly ReadonlySet<string>[] };

async function asked(
  scorer: PairScorer,
  { query, relevant }: Question,
  {
    set,
    recall,
    namesOf,
  }: {
    set: string;
    recall: (rerank: boolean) => Promise<RecallAnswer>;
    namesOf: (id: string, text: string) => readonly string[];
  },
): Promise<Asked> {
  const { hits, nearest = hits, confidence } = await recall(false);
  const own = new Map<string, number>();
  if (scorer === "deployment") {
    const read = await recall(true);
    if (!read.arms.some(({ name, status }) => name === "rerank" && status === "ok"))
      throw new Error("the reranker of this deployment does not answer");
    for (const { id, why } of read.nearest ?? read.hits) own.set(id, why.pair ?? 0);
  }
  const reader = new StatementReader();
  const words = [...reader.tellingWords(query).keys()];
  return {
    set,
    confidence,
    isTalk: isSmallTalk(query),
    relevant,
    hits: nearest.map(({ id, text, score }): Hit => {
      const ids = namesOf(id, text);
      const right = ids.find((one) => relevant.some((part) => part.has(one)));
      const said = reader.tellingWords(text);
      const share = words.filter((word) => said.has(word)).length / Math.max(1, words.length);
      const pair = {
        words: share,
        labels: right === undefined ? WRONG : RIGHT,
        deployment: own.get(id) ?? 0,
      };
      return { id: right ?? ids[0] ?? "", score, pair: pair[scorer] };
    }),
  };
}

/** Asks each question of the cases that has an answer, or none, for 30 hits. */
export async function pairsOfCases(
  client: Cairn,
  cases: readonly TruthCase[],
  scorer: PairScorer,
): Promise<Asked[]> {
  const all: Asked[][] = [];
  const draw = progress("asking", cases.length);
  let done = 0;
  const left = cases.entries();
  const askLeft = async (): Promise<void> => {
    for (const [i, one] of left) {
      const user = `eval-${randomUUID()}`;
      const namesOf = await write(client, user, one);
      const some: Asked[] = [];
      for (const { query, first = [], abstain, needs = one.needs } of one.queries) {
        if (needs !== undefined || (first.length === 0 && !abstain)) continue;
        const recall = (rerank: boolean) =>
          client.recall(user, {
            query,
            k: READ,
            answerable: "auto",
            explain: true,
            rerank,
            ...(one.referenceDate !== undefined && { referenceDate: one.referenceDate }),
            ...(one.timeZone !== undefined && { timeZone: one.timeZone }),
          });
        const relevant = first.length === 0 ? [] : [new Set(first)];
        some.push(await asked(scorer, { query, relevant }, { set: one.kind, recall, namesOf }));
      }
      all[i] = some;
      draw(++done);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, askLeft));
  return all.flat();
}

/** Asks each question of a corpus for 30 hits. */
export async function pairsOfCorpus(client: Cairn, told: Told, scorer: PairScorer): Promise<Asked[]> {
  const { user, corpus, names } = told;
  const all: Asked[] = [];
  for (const question of corpus.questions) {
    const recall = (rerank: boolean) =>
      client.recall(user, { query: question.query, k: READ, window: 0, explain: true, rerank });
    const namesOf = (id: string) => [names.get(id) ?? id];
    all.push(await asked(scorer, question, { set: corpus.set, recall, namesOf }));
  }
  return all;
}

/** Prints, for each weight, what is first and what is silent. */
export function printPairs(
  scorer: PairScorer,
  all: readonly Asked[],
  { pair, threshold }: RankingModel,
): void {
  const isSilent = ({ confidence, isTalk }: Pick<Asked, "confidence" | "isTalk">): boolean =>
    isTalk || confidence < threshold;
  const row = (weight: number): string[] => {
    const judged = all.map(({ hits, confidence, ...one }) => ({
      ...one,
      ...withPairs(
        { hits, confidence },
        hits.map((hit) => hit.pair),
        weight,
      ),
    }));
    const answerable = judged.filter(({ relevant }) => relevant.length > 0);
    const unknown = judged.filter(({ relevant, isTalk }) => relevant.length === 0 && !isTalk);
    return [
      `${weight}${weight === pair ? ", in use" : ""}`,
      ...(["Hit@1", "R@10"] as const).map((measure) =>
        percent(
          mean(
            answerable.map(({ hits, relevant }) =>
              measures[measure](
                hits.map(({ id }) => id),
                relevant,
              ),
            ),
          ),
        ),
      ),
      `${answerable.filter(isSilent).length} of ${answerable.length}`,
      `${unknown.filter(isSilent).length} of ${unknown.length}`,
    ];
  };
  printTable(
    [`pairs by ${scorer}: weight`, "Hit@1", "R@10", "lost", "without an answer, silent"],
    [...new Set([...WEIGHTS, pair])].toSorted((a, b) => a - b).map(row),
  );
}
