import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { distinctBy } from "../../../src/domain/memory/distinct.ts";
import { distinctPieces, type WordStatistics } from "../../../src/domain/ranking/lexicon.ts";
import { passageMatches } from "../../../src/domain/ranking/matches.ts";
import { isTrueIn, ratedDates } from "../../../src/domain/ranking/named-time.ts";
import { type Candidate, pooled, REACH } from "../../../src/domain/ranking/pool.ts";
import { isLong, type Passage } from "../../../src/domain/ranking/passages.ts";
import { withoutRepeats } from "../../../src/domain/ranking/repeats.ts";
import { rank } from "../../../src/domain/ranking/rank.ts";
import { mayApply } from "../../../src/domain/ranking/applies.ts";
import type { EmbedderKind, RankingModels } from "../../../src/domain/ranking/weights.ts";
import type { Arm } from "../../../src/domain/schema/recall.ts";
import { type ArmResult, Arms, candidatesAmong, type VectorResult } from "./arms.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { Neighbour } from "../threads/lineage.ts";
import { isMessage, threadNumberOf } from "../core/position.ts";
import type { Document, DocumentConditions } from "../search-index/documents.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import {
  questionOf,
  type RankedHit,
  type SearchAnswer,
  type SearchArm,
  type SearchContext,
  type SearchQuery,
} from "./search-query.ts";
import { corrected } from "./spelling.ts";

type ArmResults = {
  lexical: ArmResult | null;
  vector: VectorResult | null;
  key: ArmResult | null;
  date: ArmResult | null;
};

/** Hits that are compared for each one that is asked for, as some say the same. */
const COMPARED_PER_HIT = 2;
/** Characters of hits that are searched for passages: some 10 ms. */
const PASSAGE_CHARACTERS = 100_000;
/** Messages with instructions that are candidates, among so many of the newest. */
const INSTRUCTIONS = 16;
const INSTRUCTIONS_LOOKED_AT = 64;
/** Years in which the date arm seeks a day or month without its year. */
const YEARS_SEARCHED = 3;

/** Searches the index: each arm finds candidates, which are ranked together (`src/domain/ranking`). */
export class HybridSearch {
  readonly #index: Pick<SearchIndex, "documents" | "vectors" | "words">;
  readonly #arms: Arms;
  readonly #models: RankingModels;

  constructor(index: SearchIndex, memories: Pick<MemoryDocuments, "namedFacts">, models: RankingModels) {
    this.#index = index;
    this.#models = models;
    this.#arms = new Arms(index, memories);
  }

  search(given: SearchQuery, context: SearchContext): SearchAnswer {
    const { filter } = context;
    const query = { ...given, query: corrected(given.query, this.#index.words, context) };
    const words = this.#wordStatistics(context);
    const embedded = this.#arms.embeddedQueries(query.query, query.queryVectors, words);
    const request = { filter, limit: Math.max(candidatesAmong(context.size), query.candidates ?? query.k) };
    const results: ArmResults = {
      lexical: this.#arms.lexical(query.query, words, request),
      vector: this.#arms.vector(embedded, context.uncached, request),
      key: this.#arms.key(query.query, words, filter),
      date: this.#arms.date(query.time?.ofYears(YEARS_SEARCHED) ?? [], embedded, request),
    };
    // A query with nothing to search by gets the newest.
    const answer =
      (results.lexical ?? results.vector ?? results.date) === null
        ? {
            ranked: this.#newest(query.k, filter.conditions, context.unshown),
            confidence: 0,
            isAnswerable: false,
          }
        : this.#ranked(query, results, { ...context, words });
    const arms = [
      armOf("lexical", results.lexical),
      armOf("vector", results.vector, query.queryVectors[0]),
      armOf("key", results.key),
      armOf("date", results.date),
    ];
    return { ...answer, arms };
  }

  #wordStatistics({ lexicon, size }: SearchContext): WordStatistics | null {
    if (lexicon === null) return null;
    const counts = this.#index.vectors.counts();
    const scale = counts.isWhole ? 1 : size / counts.documents;
    return { lexicon, frequencies: { size, holding: (piece) => scale * counts.holding(piece) } };
  }

  #ranked(
    query: SearchQuery,
    results: ArmResults,
    {
      words,
      ...context
    }: Omit<SearchContext, "lexicon" | "size" | "uncached"> & { words: WordStatistics | null },
  ): Omit<SearchAnswer, "arms"> {
    const ranks = {
      lexical: ranksOf(results.lexical),
      vector: ranksOf(results.vector),
      key: ranksOf(results.key),
      date: ranksOf(results.date),
    };
    const { documents, beside } = this.#documentsAround(query, { ranks, vector: results.vector, context });
    const pool = pooled(this.#candidates(query, results, { documents, words }), {
      sameThread,
      beside: (n, step) => (isMessage(n) ? beside(n, step) : null),
    });
    const explain = query.explain ?? false;
    const model = this.#models[embedderKind(query.queryVectors, words)];
    const { ranked, confidence, signals } = rank(questionOf(query), pool, {
      words,
      model,
      ...(query.weights && { weights: query.weights }),
      explain,
    });
    const byNumber = new Map(documents.map((document) => [document.n, document]));
    const hits = ranked.flatMap(({ n, score, replacedAt, passage, explanation }): RankedHit[] => {
      const document = byNumber.get(n);
      if (document === undefined) return [];
      const why = { ...reasonsOf(document, ranks, query.time), ...explanation };
      const more = {
        ...(replacedAt !== undefined && { replacedAt }),
        ...(passage !== undefined && { passage }),
      };
      return [{ n, score, why, document, ...more }];
    });
    const once = withoutRepeats(hits.slice(0, COMPARED_PER_HIT * query.k), ({ n, document }) => ({
      isMessage: isMessage(n),
      text: document.text,
    }));
    const distinct = distinctBy(once, ({ document }) => document, query.k);
    for (const [hit, passage] of passagesIn(distinct, query.query, words)) hit.passage = passage;
    const threshold = query.answerable === "strict" ? model.strictThreshold : model.threshold;
    const isAnswerable = confidence >= threshold;
    return { ranked: distinct, confidence, isAnswerable, ...(explain && { signals, threshold }) };
  }

  /** The documents that the arms found, those around them, and instructions; none that is deleted or does not match. */
  #documentsAround(
    { query }: SearchQuery,
    {
      ranks,
      vector,
      context: { filter, unshown, besides, standing },
    }: {
      ranks: Ranks;
      vector: VectorResult | null;
      context: Pick<SearchContext, "filter" | "unshown" | "besides" | "standing">;
    },
  ): { documents: Document[]; beside: Neighbour } {
    const seeds = [...new Set(Object.values(ranks).flatMap((one) => [...one.keys()]))];
    const beside = besides(seeds.filter(isMessage));
    const instructions = this.#instructions(query, { filter, standing, vector });
    const deleted = unshown([...withNeighbours(seeds, beside), ...instructions].filter(isMessage));
    const isShown = (n: number) => !deleted.has(n);
    // A deleted message contributes no neighbours.
    const around = withNeighbours(seeds.filter(isShown), beside);
    const shown = [...new Set([...around, ...instructions])].filter(isShown);
    return { documents: this.#index.documents.read(filter.matching(shown)), beside };
  }

  /** The documents with what the arms know of each. */
  #candidates(
    { time }: SearchQuery,
    results: ArmResults,
    { documents, words }: { documents: readonly Document[]; words: WordStatistics | null },
  ): Candidate[] {
    const dates = time === null ? [] : ratedDates(documents, time);
    const numbers = documents.map(({ n }) => n);
    const cosines = results.vector?.cosines(numbers);
    const pieces = this.#index.vectors.rows.pieces(numbers);
    const keys = scoresOf(results.key);
    const bm25 = scoresOf(results.lexical);
    return documents.map((document, i) => {
      const { n, text, importance, createdAt } = document;
      return {
        n,
        isMessage: isMessage(n),
        text,
        role: document.message?.role ?? null,
        speaker: document.message?.name ?? null,
        createdAt,
        fact: document.validity?.id,
        pieces: pieces.get(n) ?? (words === null ? NO_PIECES : distinctPieces(words.lexicon, text)),
        words: bm25.get(n) ?? 0,
        cosine: cosines?.get(n),
        key: keys.get(n) ?? 0,
        date: dates[i] ?? 0,
        importance: importance ?? 0,
        standing: document.standing?.map(([start, end]) => text.slice(start, end)),
      };
    });
  }

  /** The messages with instructions that are nearest to the query, or the newest. They share few words with what they are about. */
  #instructions(
    query: string,
    { filter, standing, vector }: Pick<SearchContext, "filter" | "standing"> & Pick<ArmResults, "vector">,
  ): readonly number[] {
    if (!filter.kinds.messages || !mayApply(query)) return [];
    const all = filter.matching(standing(INSTRUCTIONS_LOOKED_AT));
    if (all.length <= INSTRUCTIONS) return all;
    const cosines = vector?.cosines(all);
    return all.toSorted((a, b) => (cosines?.get(b) ?? 0) - (cosines?.get(a) ?? 0)).slice(0, INSTRUCTIONS);
  }

  #newest(k: number, conditions: DocumentConditions, unshown: SearchContext["unshown"]): RankedHit[] {
    const newest: RankedHit[] = [];
    for (const document of this.#index.documents.newest(conditions, k)) {
      if (!isMessage(document.n) || unshown([document.n]).size === 0)
        newest.push({ n: document.n, score: 0, why: {}, document });
      if (newest.length === k) break;
    }
    return newest;
  }
}

/** The embedded model's vectors are sums of its words, and tell less than those of another model. */
const embedderKind = ([first]: readonly TextEmbedding[], words: WordStatistics | null): EmbedderKind =>
  first !== undefined && first.model === words?.lexicon.model ? "static" : "contextual";

/** The passage that says most of the query, of each long text among the first so many characters of hits. */
function* passagesIn(
  hits: readonly RankedHit[],
  query: string,
  words: WordStatistics | null,
): Generator<[RankedHit, Passage]> {
  if (words === null) return;
  let left = PASSAGE_CHARACTERS;
  for (const hit of hits) {
    const { text } = hit.document;
    left -= text.length;
    if (left < 0) return;
    if (hit.passage !== undefined || !isLong(text)) continue;
    const [best] = passageMatches(query, [text], words);
    if (best !== undefined) yield [hit, best.passage];
  }
}

const NO_PIECES = new Uint16Array();

/** The same numbers, and those of the messages around each message. */
function withNeighbours(seeds: readonly number[], beside: Neighbour): number[] {
  const all = new Set(seeds);
  for (const n of seeds.filter(isMessage))
    for (let step = -REACH; step <= REACH; step++) {
      const other = beside(n, step);
      if (other !== null) all.add(other);
    }
  return [...all];
}

const sameThread = (a: number, b: number): boolean =>
  isMessage(a) && isMessage(b) && threadNumberOf(a) === threadNumberOf(b);

/** The ranks of a document in the arms that found it. */
function reasonsOf({ n, validity }: Document, ranks: Ranks, time: SearchQuery["time"]) {
  const wasTrue = time !== null && validity !== undefined && isTrueIn(validity, time);
  const [lexical, vector] = [ranks.lexical.get(n), ranks.vector.get(n)];
  return {
    ...(lexical !== undefined && { lexical }),
    ...(vector !== undefined && { vector }),
    ...(ranks.key.has(n) && { key: true as const }),
    ...((ranks.date.has(n) || wasTrue) && { date: true as const }),
  };
}

const scoresOf = (result: ArmResult | null): Map<number, number> =>
  new Map(result?.candidates.map(({ n, score }) => [n, score]));

/** The rank of each document in each arm. */
type Ranks = Record<"lexical" | "vector" | "key" | "date", ReadonlyMap<number, number>>;

const ranksOf = (result: ArmResult | null): Map<number, number> =>
  new Map(result?.candidates.map(({ n }, i) => [n, i + 1]));

/** An arm of the answer; `off` if the query gave it nothing to search by. */
function armOf(name: Arm["name"], result: ArmResult | null, vector?: TextEmbedding): SearchArm {
  const failure = vector?.vector === "failed" ? (vector.late === true ? "late" : "failed") : null;
  const status = failure ?? (result === null ? "off" : "ok");
  return { name, status, candidates: result?.candidates.length ?? 0, capped: result?.capped ?? false };
}
