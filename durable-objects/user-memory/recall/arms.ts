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
import type { EmbeddedQuery, VectorStore } from "../search-index/vector-store.ts";

/** The documents that an arm found, best first; `capped`: there are more. */
export type ArmResult = { candidates: readonly Scored[]; capped: boolean };
export type VectorResult = ArmResult & {
  /** The cosine of each of these documents with the query, on the scale of the candidates' scores. */
  cosines: (numbers: readonly number[]) => Map<number, number>;
};
/** An arm finds at most `limit` documents that match the filter. */
type ArmRequest = { filter: CandidateFilter; limit: number };

/** Candidates of each arm, unless `k` is greater: among a few hundred documents, 25 to 100 measured the same. */
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

/** Candidates by words, by vectors, by key and by date. An arm answers null if the query has nothing it can search by. */
export class Arms {
  readonly #index: Pick<SearchIndex, "documents" | "words">;
  readonly #vectors: VectorStore;
  readonly #memories: Pick<MemoryDocuments, "namedFacts">;

  constructor(
    index: Pick<SearchIndex, "documents" | "words" | "vectors">,
    memories: Pick<MemoryDocuments, "namedFacts">,
  ) {
    this.#index = index;
    this.#memories = memories;
    this.#vectors = index.vectors;
  }

  /** The query's vector of each model; for the word model, its rare words weigh more. */
  embeddedQueries(
    query: string,
    queryVectors: readonly TextEmbedding[],
    words: WordStatistics | null,
  ): EmbeddedQuery[] {
    // A model may have a vector of `???`, which means nothing.
    if (/^[\p{P}\s]*$/u.test(query)) return [];
    return queryVectors.flatMap(({ model, dimensions, vector }) => {
      if (vector === null || vector === "failed") return [];
      const pooledHere = words !== null && words.lexicon.model === model ? queryVectorOf(query, words) : null;
      return [{ model, dimensions, vector: pooledHere ?? vector }];
    });
  }

  lexical(query: string, words: WordStatistics | null, { filter, limit }: ArmRequest): ArmResult | null {
    const queryWords = contentWords(query);
    if (queryWords.length === 0) return null;
    const rare = rareWords(queryWords, words);
    if (rare.length === 0) return this.#byCommonWords(queryWords, { filter, limit });
    if (filter.few !== null) {
      const found =
        filter.few.size === 0 ? [] : this.#index.words.bestOf(filter.few, matchExpression(rare), limit);
      return { candidates: found, capped: found.length === limit };
    }
    const rows = this.#index.words.best(
      matchExpression(rare),
      filter.isSelective ? CHECKED_AT_ONCE : 2 * limit,
    );
    const candidates = firstMatching(rows, filter, limit);
    return { candidates, capped: candidates.length === limit };
  }

  /** Common words distinguish little: only the newest memories and messages that hold one are scored. */
  #byCommonWords(queryWords: readonly string[], { filter, limit }: ArmRequest): ArmResult {
    const halves = [filter.kinds.memories ? MEMORIES : null, filter.kinds.messages ? MESSAGES : null];
    const last = halves
      .filter((half) => half !== null)
      .map((half) => {
        const rows = this.#index.words.last(matchExpression(queryWords), half, LAST_OF_COMMON);
        return firstMatching(first(rows, LOOKED_AT * LAST_OF_COMMON), filter, LAST_OF_COMMON);
      });
    const candidates = best(last.flat(), limit);
    const capped = candidates.length === limit || last.some(({ length }) => length === LAST_OF_COMMON);
    return { candidates, capped };
  }

  /** Facts whose topic key, or whose subject and predicate, the query names. */
  key(query: string, words: WordStatistics | null, filter: CandidateFilter): ArmResult | null {
    const names = wordRuns(normalise(query).split(" ").map(withoutMarks));
    if (names.length === 0) return null;
    const named = new Map(this.#memories.namedFacts(names).map(({ n, key }) => [n, key]));
    const matching = filter.matching([...named.keys()]);
    // The latest versions, if a time of the query lets many of a fact match.
    const latest = matching.toSorted((a, b) => b - a).slice(0, CANDIDATES);
    // A key may be an everyday word: it counts by its share of the query. A subject with its predicate is none.
    const shareNamed = (key: string | null = null) => (key === null ? 1 : shareOf(key, query, words));
    const candidates = latest.map((n) => ({ n, score: shareNamed(named.get(n)) }));
    return candidates.length === 0 ? null : { candidates: best(candidates, CANDIDATES), capped: false };
  }

  /** Documents of the time that the query names: the nearest by vector, or the newest if the query has no vector. */
  date(
    timeSpans: readonly TimeSpan[],
    [embedded]: readonly EmbeddedQuery[],
    { filter, limit }: ArmRequest,
  ): ArmResult | null {
    if (timeSpans.length === 0) return null;
    const numbers = timeSpans.flatMap((span) => this.#index.documents.inTime(span, IN_TIME_SPAN));
    const matching = filter.matching(numbers);
    const load = filter.few === null;
    const cosines = embedded === undefined ? null : this.#vectors.cosines(embedded, matching, { load });
    const scored = matching.map((n) => ({ n, score: cosines?.get(n) ?? 0 }));
    return {
      candidates: best(scored, limit),
      capped: numbers.length >= IN_TIME_SPAN || matching.length > limit,
    };
  }

  /**
   * The nearest by each model, among the cached vectors and the documents of `uncached`. Cosines of two models do not compare:
   * with two models, each is scaled by its best.
   */
  vector(
    queries: readonly EmbeddedQuery[],
    uncached: () => readonly number[],
    { filter, limit }: ArmRequest,
  ): VectorResult | null {
    if (queries.length === 0) return null;
    const others = uncached();
    const load = filter.few === null;
    const ofModels = queries.map((query) => {
      const cached = this.#nearest(query, filter, limit);
      const rest = Array.from(this.#vectors.cosines(query, others, { load }), ([n, score]) => ({ n, score }));
      const all = new Map([...cached, ...rest].map((one) => [one.n, one]));
      const candidates = nearestFirst([...all.values()]).slice(0, limit);
      const scale = queries.length === 1 ? 1 : 1 / Math.max(candidates[0]?.score ?? 1, Number.EPSILON);
      return { query, candidates, scale };
    });
    const scaled = ofModels.flatMap(({ candidates, scale }) =>
      candidates.map(({ n, score }) => ({ n, score: score * scale })),
    );
    const cosines = (ns: readonly number[]) =>
      new Map(
        ofModels.flatMap(({ query, scale }) =>
          Array.from(this.#vectors.cosines(query, ns, { load }), ([n, score]): [number, number] => [
            n,
            score * scale,
          ]),
        ),
      );
    const { kinds } = filter;
    const capped = queries.some((query) => {
      if (filter.few !== null) return false;
      const missing = this.#vectors.missing(query);
      return (missing.memories && kinds.memories) || (missing.messages && kinds.messages);
    });
    return { candidates: best(scaled, limit), capped, cosines };
  }

  /** The nearest that match. A selective filter reads all documents only if too few of the nearest match. */
  #nearest(query: EmbeddedQuery, filter: CandidateFilter, limit: number): Scored[] {
    if (filter.few !== null) {
      const cosines = this.#vectors.cosines(query, [...filter.few], { load: false });
      return nearestFirst(Array.from(cosines, ([n, score]) => ({ n, score }))).slice(0, limit);
    }
    const table = this.#vectors.searched(query);
    const mayMatch = (n: number) => filter.mayMatch(n);
    if (!filter.isSelective) return table.nearest(query.vector, limit, mayMatch);
    for (const times of OVERSAMPLING) {
      const nearest = table.nearest(query.vector, limit * times, mayMatch);
      const found = firstMatching(nearest.values(), filter, limit);
      if (found.length === limit || nearest.length < limit * times) return found;
    }
    return table.nearest(query.vector, limit, (n) => filter.matches(n));
  }
}

function rareWords(all: readonly string[], words: WordStatistics | null): readonly string[] {
  if (words === null) return all;
  const { lexicon, frequencies } = words;
  const common = Math.min(COMMON_MOST, Math.max(COMMON_LEAST, COMMON_SHARE * frequencies.size));
  return all.filter((word) => {
    const held = lexicon.pieces(word).map(frequencies.holding);
    return held.length === 0 || Math.min(...held) <= common;
  });
}

/** The first `limit` rows that match. */
function firstMatching(rows: Iterator<Scored>, filter: CandidateFilter, limit: number): Scored[] {
  // Nearly all rows match a filter that is not selective: reads no more of them than are needed.
  const size = filter.isSelective ? CHECKED_AT_ONCE : limit;
  const found: Scored[] = [];
  for (;;) {
    const some: Scored[] = [];
    for (let row = rows.next(); row.done !== true; row = rows.next())
      if (some.push(row.value) === size) break;
    found.push(...onlyMatching(some, filter));
    if (found.length >= limit || some.length < size) return found.slice(0, limit);
  }
}

function onlyMatching(scored: readonly Scored[], filter: CandidateFilter): Scored[] {
  const matching = new Set(filter.matching(scored.map(({ n }) => n)));
  return scored.filter(({ n }) => matching.has(n));
}

/** The first `most` of some rows. */
function* first<T>(rows: Iterable<T>, most: number): Generator<T> {
  let left = most;
  for (const row of rows) {
    yield row;
    if (--left === 0) return;
  }
}

const nearestFirst = (scored: readonly Scored[]): Scored[] =>
  scored.toSorted((a, b) => b.score - a.score || b.n - a.n);

const best = (scored: readonly Scored[], limit: number): Scored[] =>
  scored.toSorted((a, b) => b.score - a.score).slice(0, limit);

/** A word without surrounding punctuation and without a possessive s. */
const withoutMarks = (word: string): string =>
  word.replaceAll(/^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu, "").replace(/['’]s$/u, "");
