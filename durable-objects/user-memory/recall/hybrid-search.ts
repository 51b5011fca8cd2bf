import type { Recall, SearchRequest } from "../../../src/contract/user-memory.ts";
import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { distinctBy } from "../../../src/domain/memory/distinct.ts";
import { asksForPast } from "../../../src/domain/ranking/question.ts";
import type { Question } from "../../../src/domain/ranking/features.ts";
import { distinctPieces, type Lexicon, type WordStatistics } from "../../../src/domain/ranking/lexicon.ts";
import { passageMatches } from "../../../src/domain/ranking/matches.ts";
import { isTrueIn, type NamedTime, dateRatings } from "../../../src/domain/ranking/named-time.ts";
import { type Candidate, poolOf, REACH } from "../../../src/domain/ranking/pool.ts";
import { isLong, type Passage } from "../../../src/domain/ranking/passages.ts";
import { withoutRepeats } from "../../../src/domain/ranking/repeats.ts";
import { rank } from "../../../src/domain/ranking/rank.ts";
import { mayApply } from "../../../src/domain/ranking/applies.ts";
import type { RankingModels } from "../../../src/domain/ranking/weights.ts";
import type { Arm, Hit } from "../../../src/domain/schema/recall.ts";
import type { CandidateFilter, FilterRequest } from "./candidate-filter.ts";
import { candidatesAmong, type Retrieval, type Retrievals, retrieve } from "./retrievers.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { Neighbour } from "../threads/lineage.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import { isMessage, threadNumberOf } from "../core/position.ts";
import type { Document } from "../search-index/documents.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import { corrected } from "./spelling.ts";

type HybridSearchDependencies = {
  index: Pick<SearchIndex, "documents" | "vectors" | "words">;
  memories: Pick<MemoryDocuments, "namedFacts">;
  messages: Pick<ThreadMessages, "besides" | "unshown" | "standing">;
  models: RankingModels;
};
type SearchQuery = SearchRequest &
  Pick<Recall, "answerable" | "threadId"> &
  FilterRequest & {
    /** The query's vector of each model that documents have vectors of; the current model first. */
    queryVectors: readonly TextEmbedding[];
    /** The times that the query names. */
    time: NamedTime | null;
  };
type SearchContext = {
  filter: CandidateFilter;
  /** Null: words match only if they are equal. */
  lexicon: Lexicon | null;
  /** Number of documents in the index. */
  size: number;
  /** Matching documents whose vectors are not cached, to be compared with the query too. */
  uncached: () => readonly number[];
};
/** The filter of a search, the words of its query in the index, and the documents that its retrievers found. */
type Search = { filter: CandidateFilter; words: WordStatistics | null; retrievals: Retrievals };

/**
 * A document in its place of the ranking. `replacedAt`: the time of a later statement that seems to replace it; `passage`: of a
 * long text, the one that matches the query best.
 */
export type RankedHit = {
  n: number;
  score: number;
  why: Hit["why"];
  document: Document;
  replacedAt?: number | undefined;
  passage?: Passage | undefined;
};
/** An arm without its time, which only the caller measures. */
type SearchArm = Omit<Arm, "ms">;

/** Hits that are compared for each one that is asked for, as some say the same. */
const COMPARED_PER_HIT = 2;
/** Characters of hits that are searched for passages: some 10 ms. */
const PASSAGE_CHARACTERS = 100_000;
/** Messages with instructions that are candidates, among so many of the newest. */
const INSTRUCTIONS = 16;
const INSTRUCTIONS_LOOKED_AT = 64;
/** Years in which the retriever by date seeks a day or month without its year. */
const YEARS_SEARCHED = 3;

/** Searches the index: each retriever finds candidates, which are ranked together (`src/domain/ranking`). */
export class HybridSearch {
  readonly #deps: HybridSearchDependencies;

  constructor(deps: HybridSearchDependencies) {
    this.#deps = deps;
  }

  search(asWritten: SearchQuery, context: SearchContext) {
    const { filter, size, uncached } = context;
    const query = { ...asWritten, query: corrected(asWritten.query, this.#deps.index.words, context) };
    const words = this.#wordStatistics(context);
    const retrievals = retrieve({
      ...this.#deps,
      query: query.query,
      queryVectors: query.queryVectors,
      timeSpans: query.time?.ofYears(YEARS_SEARCHED) ?? [],
      words,
      uncached,
      filter,
      limit: Math.max(candidatesAmong(size), query.candidates ?? query.k),
    });
    const { lexical, vector, key, date } = retrievals;
    // A query with nothing to search by gets the newest.
    const answer =
      (lexical ?? vector ?? date) === null
        ? { ranked: this.#newest(query, filter), confidence: 0, isAnswerable: false }
        : this.#ranked(query, { filter, words, retrievals });
    const arms = [
      armOf("lexical", lexical),
      armOf("vector", vector, query.queryVectors[0]),
      armOf("key", key),
      armOf("date", date),
    ];
    return { ...answer, arms };
  }

  #wordStatistics({ lexicon, size }: SearchContext): WordStatistics | null {
    if (lexicon === null) return null;
    const counts = this.#deps.index.vectors.counts();
    const scale = counts.isWhole ? 1 : size / counts.documents;
    return { lexicon, frequencies: { size, holding: (piece) => scale * counts.holding(piece) } };
  }

  #ranked(query: SearchQuery, search: Search) {
    const { words, retrievals } = search;
    const { documents, beside } = this.#documentsAround(query, search);
    const pool = poolOf(this.#candidates(query, documents, search), {
      sameThread,
      beside: (n, step) => (isMessage(n) ? beside(n, step) : null),
    });
    const { explain = false, weights } = query;
    // The embedded model's vectors are sums of its words, and tell less than those of another model.
    const isStatic = words !== null && query.queryVectors[0]?.model === words.lexicon.model;
    const model = this.#deps.models[isStatic ? "static" : "contextual"];
    const { ranked, confidence, signals } = rank(questionOf(query), pool, { words, model, weights, explain });
    const byNumber = new Map(documents.map((document) => [document.n, document]));
    const hits = ranked
      .slice(0, COMPARED_PER_HIT * query.k)
      .flatMap(({ n, score, replacedAt, passage, explanation }): RankedHit[] => {
        const document = byNumber.get(n);
        if (document === undefined) return [];
        const why = { ...reasonsOf(document, retrievals, query.time), ...explanation };
        return [{ n, score, why, document, replacedAt, passage }];
      });
    const once = withoutRepeats(hits, ({ n, document: { text } }) => ({ isMessage: isMessage(n), text }));
    const distinct = distinctBy(once, ({ document }) => document, query.k);
    for (const [hit, passage] of passagesIn(distinct, query.query, words)) hit.passage = passage;
    const threshold = query.answerable === "strict" ? model.strictThreshold : model.threshold;
    const isAnswerable = confidence >= threshold;
    return { ranked: distinct, confidence, isAnswerable, ...(explain && { signals, threshold }) };
  }

  /** The documents that the retrievers found, those around them, and instructions; none that is deleted or does not match. */
  #documentsAround(
    { query, threadId }: SearchQuery,
    { filter, retrievals }: Search,
  ): { documents: Document[]; beside: Neighbour } {
    const numbers = Object.values(retrievals).flatMap((one) => one?.candidates.map(({ n }) => n) ?? []);
    const seeds = [...new Set(numbers)];
    const beside = this.#deps.messages.besides(seeds.filter(isMessage), threadId);
    const instructions = this.#instructions(query, { filter, retrievals });
    const deleted = this.#deps.messages.unshown(
      [...withNeighbours(seeds, beside), ...instructions].filter(isMessage),
      threadId,
    );
    const isShown = (n: number) => !deleted.has(n);
    // A deleted message contributes no neighbours.
    const around = withNeighbours(seeds.filter(isShown), beside);
    const shown = [...new Set([...around, ...instructions])].filter(isShown);
    return { documents: this.#deps.index.documents.read(filter.matching(shown)), beside };
  }

  /** The documents with what the retrievers know of each. */
  #candidates(
    { time }: SearchQuery,
    documents: readonly Document[],
    { words, retrievals }: Search,
  ): Candidate[] {
    const dates = time === null ? [] : dateRatings(documents, time);
    const numbers = documents.map(({ n }) => n);
    const cosines = retrievals.vector?.cosines(numbers);
    const pieces = this.#deps.index.vectors.rows.pieces(numbers);
    const keys = scoresOf(retrievals.key);
    const bm25 = scoresOf(retrievals.lexical);
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
  #instructions(query: string, { filter, retrievals }: Pick<Search, "filter" | "retrievals">): number[] {
    if (!filter.kinds.messages || !mayApply(query)) return [];
    const all = filter.matching(this.#deps.messages.standing(INSTRUCTIONS_LOOKED_AT));
    if (all.length <= INSTRUCTIONS) return all;
    const cosines = retrievals.vector?.cosines(all);
    return all.toSorted((a, b) => (cosines?.get(b) ?? 0) - (cosines?.get(a) ?? 0)).slice(0, INSTRUCTIONS);
  }

  #newest({ k, threadId }: SearchQuery, { conditions }: CandidateFilter): RankedHit[] {
    return this.#deps.index.documents
      .newest(conditions, k)
      .filter(({ n }) => !isMessage(n) || this.#deps.messages.unshown([n], threadId).size === 0)
      .take(k)
      .map((document) => ({ n: document.n, score: 0, why: {}, document }))
      .toArray();
  }
}

/** The question as the ranking compares it. */
function questionOf({ query: text, referenceDate, moment, timeMode, time }: SearchQuery): Question {
  return {
    text,
    now: referenceDate ?? moment.now,
    isPast: timeMode !== "off" && time === null && asksForPast(text),
    ...(time !== null && time.spans.length > 0 && { until: Math.max(...time.spans.map(({ to }) => to)) }),
  };
}

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

/** The ranks of a document in the results that have it. */
function reasonsOf(
  { n, validity }: Document,
  { lexical, vector, key, date }: Retrievals,
  time: SearchQuery["time"],
) {
  const wasTrue = time !== null && validity !== undefined && isTrueIn(validity, time);
  const [byWords, byVector] = [rankIn(lexical, n), rankIn(vector, n)];
  return {
    ...(byWords > 0 && { lexical: byWords }),
    ...(byVector > 0 && { vector: byVector }),
    ...(rankIn(key, n) > 0 && { key: true as const }),
    ...((rankIn(date, n) > 0 || wasTrue) && { date: true as const }),
  };
}

/** From 1; 0 for a document that is not among the candidates. Two models may both find one: the lower rank counts. */
const rankIn = (result: Retrieval | null, n: number): number =>
  1 + (result?.candidates.findLastIndex((one) => one.n === n) ?? -1);

const scoresOf = (result: Retrieval | null): Map<number, number> =>
  new Map(result?.candidates.map(({ n, score }) => [n, score]));

/** A retriever of the answer; `off` if the query gave it nothing to search by. */
function armOf(name: Arm["name"], result: Retrieval | null, vector?: TextEmbedding): SearchArm {
  const failure = vector?.vector === "failed" ? (vector.late === true ? "late" : "failed") : null;
  const status = failure ?? (result === null ? "off" : "ok");
  return { name, status, candidates: result?.candidates.length ?? 0, capped: result?.capped ?? false };
}
