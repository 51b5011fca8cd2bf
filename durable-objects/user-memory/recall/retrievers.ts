import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { normalise } from "../../../src/domain/memory/normalise.ts";
import { queryVectorOf, type WordStatistics } from "../../../src/domain/ranking/lexicon.ts";
import { shareOf } from "../../../src/domain/ranking/matches.ts";
import type { TimeSpan } from "../../../src/domain/ranking/time-span.ts";
import { contentWords, matchExpression, wordRuns } from "../../../src/domain/ranking/question.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import type { CandidateFilter } from "./candidate-filter.ts";
import { MEMORIES, MESSAGES } from "../core/position.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { EmbeddedQuery } from "../search-index/vector-store.ts";

/** The documents that a retriever found, best first; `capped`: there are more. */
export type Retrieval = { candidates: readonly Scored[]; capped: boolean };
type VectorRetrieval = Retrieval & {
  /** The cosine of each of these documents with the query, on the scale of the candidates' scores. */
  cosines: (numbers: readonly number[]) => Map<number, number>;
};
/** The result of each retriever; null if the query has nothing that it can search by. */
export type Retrievals = Record<"lexical" | "key" | "date", Retrieval | null> & {
  vector: VectorRetrieval | null;
};
type Retrieving = {
  index: Pick<SearchIndex, "documents" | "words" | "vectors">;
  memories: Pick<MemoryDocuments, "namedFacts">;
  query: string;
  /** The query's vector of each model. */
  queryVectors: readonly TextEmbedding[];
  timeSpans: readonly TimeSpan[];
  words: WordStatistics | null;
  /** Matching documents whose vectors are not cached, to be compared with the query too. */
  uncached: () => readonly number[];
  filter: CandidateFilter;
  /** Most documents that a retriever finds. */
  limit: number;
};

/** Candidates of each retriever, unless `k` is greater: among a few hundred documents, 25 to 100 measured the same. */
export const CANDIDATES = 32;
/** An index with more documents has twice as many: 2.6 of 100 more of what answers is among the first ten. */
const LARGE = 1_000;
export const candidatesAmong = (documents: number): number =>
  documents > LARGE ? 2 * CANDIDATES : CANDIDATES;
/** A word is common if more than this share of the documents hold it: never below COMMON_LEAST, always above COMMON_MOST. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 200;
const COMMON_MOST = 5_000;
/** Newest documents read of each time span that the query names. */
const IN_TIME_SPAN = 2_000;
/** Newest memories, and newest messages, that are scored if all words of the query are common. */
const LAST_OF_COMMON = 1_000;
/** Documents with common words that are looked at for a selective filter, for each that is scored. */
const LOOKED_AT = 4;
/** Documents that one statement checks against a selective filter. */
const CHECKED_AT_ONCE = 128;
/** A selective filter is applied to so many times `limit` nearest vectors, one after the other, then to all documents. */
const OVERSAMPLING = [8, 64];

/** Finds candidates by words, by vectors, by key and by date. */
export function retrieve(request: Retrieving): Retrievals {
  const vectors = embeddedQueries(request);
  return {
    lexical: byWords(request),
    vector: byVectors(vectors, request),
    key: byKey(request),
    date: byDate(vectors, request),
  };
}

function byWords(request: Retrieving): Retrieval | null {
  const { index, query, words, filter, limit } = request;
  const queryWords = contentWords(query);
  if (queryWords.length === 0) return null;
  const rare = rareWords(queryWords, words);
  if (rare.length === 0) return byCommonWords(queryWords, request);
  const expression = matchExpression(rare);
  const { few, isSelective } = filter;
  const rows =
    few === null
      ? index.words.best(expression, isSelective ? CHECKED_AT_ONCE : 2 * limit)
      : few.size === 0
        ? []
        : index.words.bestOf(few, expression, limit);
  const candidates = firstMatching(rows, filter, limit);
  return { candidates, capped: candidates.length === limit };
}

/** Common words distinguish little: only the newest memories and messages that hold one are scored. */
function byCommonWords(queryWords: readonly string[], { index, filter, limit }: Retrieving): Retrieval {
  const { memories, messages } = filter.kinds;
  const last = [...(memories ? [MEMORIES] : []), ...(messages ? [MESSAGES] : [])].map((half) => {
    const rows = index.words.last(matchExpression(queryWords), half, LAST_OF_COMMON);
    return firstMatching(rows.take(LOOKED_AT * LAST_OF_COMMON), filter, LAST_OF_COMMON);
  });
  const candidates = best(last.flat(), limit);
  const capped = candidates.length === limit || last.some(({ length }) => length === LAST_OF_COMMON);
  return { candidates, capped };
}

/** Facts whose topic key, or whose subject and predicate, the query names. */
function byKey({ memories, query, words, filter }: Retrieving): Retrieval | null {
  const names = wordRuns(normalise(query).split(" ").map(withoutMarks));
  if (names.length === 0) return null;
  const named = new Map(memories.namedFacts(names).map(({ n, key }) => [n, key]));
  // The latest versions, if a time of the query lets many of a fact match.
  const latest = filter
    .matching([...named.keys()])
    .toSorted((a, b) => b - a)
    .slice(0, CANDIDATES);
  // A key may be an everyday word: it counts by its share of the query. A subject with its predicate is none.
  const shareNamed = (key: string | null = null) => (key === null ? 1 : shareOf(key, query, words));
  const candidates = latest.map((n) => ({ n, score: shareNamed(named.get(n)) }));
  return candidates.length === 0 ? null : { candidates: best(candidates, CANDIDATES), capped: false };
}

/** Documents of the time that the query names: the nearest by vector, or the newest if the query has no vector. */
function byDate(
  [embedded]: readonly EmbeddedQuery[],
  { index, timeSpans, filter, limit }: Retrieving,
): Retrieval | null {
  if (timeSpans.length === 0) return null;
  const numbers = timeSpans.flatMap((span) => index.documents.inTime(span, IN_TIME_SPAN));
  const matching = filter.matching(numbers);
  const load = filter.few === null;
  const cosines = embedded === undefined ? null : index.vectors.cosines(embedded, matching, { load });
  const candidates = best(
    matching.map((n) => ({ n, score: cosines?.get(n) ?? 0 })),
    limit,
  );
  return { candidates, capped: numbers.length >= IN_TIME_SPAN || matching.length > limit };
}

/**
 * The nearest by each model, among the cached vectors and the documents of `uncached`. Cosines of two models do not compare:
 * with two models, each is scaled by its best.
 */
function byVectors(queries: readonly EmbeddedQuery[], request: Retrieving): VectorRetrieval | null {
  if (queries.length === 0) return null;
  const { index, uncached, filter, limit } = request;
  const load = filter.few === null;
  const scored = (query: EmbeddedQuery, numbers: readonly number[], scale = 1): Scored[] =>
    Array.from(index.vectors.cosines(query, numbers, { load }), ([n, score]) => ({
      n,
      score: score * scale,
    }));
  const others = uncached();
  const ofModels = queries.map((query) => {
    const near = filter.few === null ? nearest(query, request) : scored(query, [...filter.few]);
    const all = new Map([...near, ...scored(query, others)].map((one) => [one.n, one]));
    const candidates = nearestFirst([...all.values()]).slice(0, limit);
    const scale = queries.length === 1 ? 1 : 1 / Math.max(candidates[0]?.score ?? 1, Number.EPSILON);
    return { query, candidates, scale };
  });
  const scaled = ofModels.flatMap(({ candidates, scale }) =>
    candidates.map(({ n, score }) => ({ n, score: score * scale })),
  );
  const { kinds } = filter;
  const capped = queries.some((query) => {
    if (filter.few !== null) return false;
    const missing = index.vectors.missing(query);
    return (missing.memories && kinds.memories) || (missing.messages && kinds.messages);
  });
  const cosines = (numbers: readonly number[]) =>
    new Map(
      ofModels.flatMap(({ query, scale }) => scored(query, numbers, scale)).map(({ n, score }) => [n, score]),
    );
  return { candidates: best(scaled, limit), capped, cosines };
}

/** The nearest that match. A selective filter reads all documents only if too few of the nearest match. */
function nearest(query: EmbeddedQuery, { index, filter, limit }: Retrieving): Scored[] {
  const table = index.vectors.searched(query);
  const mayMatch = (n: number) => filter.mayMatch(n);
  if (!filter.isSelective) return table.nearest(query.vector, limit, mayMatch);
  for (const times of OVERSAMPLING) {
    const some = table.nearest(query.vector, limit * times, mayMatch);
    const matching = firstMatching(some, filter, limit);
    if (matching.length === limit || some.length < limit * times) return matching;
  }
  return table.nearest(query.vector, limit, (n) => filter.matches(n));
}

/** The query's vectors; of the word model, one in which its rare words weigh more. */
function embeddedQueries({ query, queryVectors, words }: Retrieving): EmbeddedQuery[] {
  // A model may have a vector of `???`, which means nothing.
  if (/^[\p{P}\s]*$/u.test(query)) return [];
  return queryVectors.flatMap(({ model, dimensions, vector }) => {
    if (vector === null || vector === "failed") return [];
    const pooledHere = words?.lexicon.model === model ? queryVectorOf(query, words) : null;
    return [{ model, dimensions, vector: pooledHere ?? vector }];
  });
}

function rareWords(all: readonly string[], words: WordStatistics | null): readonly string[] {
  if (words === null) return all;
  const { lexicon, frequencies } = words;
  const common = Math.min(COMMON_MOST, Math.max(COMMON_LEAST, COMMON_SHARE * frequencies.size));
  return all.filter((word) => {
    const frequency = lexicon.pieces(word).map(frequencies.holding);
    return frequency.length === 0 || Math.min(...frequency) <= common;
  });
}

/** The first `limit` rows that match. */
function firstMatching(rows: Iterable<Scored>, filter: CandidateFilter, limit: number): Scored[] {
  // Nearly all rows match a filter that is not selective: reads no more of them than are needed.
  const size = filter.isSelective ? CHECKED_AT_ONCE : limit;
  const found: Scored[] = [];
  let unchecked: Scored[] = [];
  const check = () => {
    const matching = new Set(filter.matching(unchecked.map(({ n }) => n)));
    found.push(...unchecked.filter(({ n }) => matching.has(n)));
    unchecked = [];
  };
  for (const row of rows) {
    if (unchecked.push(row) === size) check();
    if (found.length >= limit) break;
  }
  check();
  return found.slice(0, limit);
}

const nearestFirst = (scored: readonly Scored[]): Scored[] =>
  scored.toSorted((a, b) => b.score - a.score || b.n - a.n);

const best = (scored: readonly Scored[], limit: number): Scored[] =>
  scored.toSorted((a, b) => b.score - a.score).slice(0, limit);

/** A word without surrounding punctuation and without a possessive s. */
const withoutMarks = (word: string): string =>
  word.replaceAll(/^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu, "").replace(/['’]s$/u, "");
