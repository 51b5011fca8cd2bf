import type { QueryVector } from "../../../src/platform/embeddings/embedder.ts";
import { normalise } from "../../../src/domain/memory/normalise.ts";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import type { Stretch } from "../../../src/domain/ranking/named-time.ts";
import { matchExpression, spans } from "../../../src/domain/ranking/question.ts";
import { queryVectorOf } from "../../../src/domain/ranking/query-vector.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import type { Missing } from "../search-index/held-vectors.ts";
import type { Meant } from "./meant.ts";
import { FIRST_POSITION, type PositionRange } from "../core/position.ts";
import { NAMED_FACTS } from "../memories/memory-table.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { Space, VectorStore } from "../search-index/vector-store.ts";

/** What is known of words here: the word model, and the counts of this user's documents. */
export type Words = { lexicon: Lexicon; frequencies: { size: number; holding: (piece: number) => number } };

/** What an arm brings; `capped`: there was more. */
export type Brought = { found: Scored[]; capped: boolean };
/** What an arm is asked for: documents that are meant, so many at most. */
export type Wanted = { meant: Meant; limit: number };

/** How many documents each arm brings at least; 25 to 200 measured the same. */
export const CANDIDATES = 64;
/** FTS5 is not asked to weigh words that more documents hold than this share of all, and than so many, nor ever than the most. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 200;
const COMMON_MOST = 5_000;
/** Of a stretch of time that the query names, the last so many documents are looked at. */
const IN_STRETCH = 2_000;
/** Of words that are all common, the last so many documents are weighed, of memories and of messages. */
const LAST_OF_COMMON = 1_000;
/** How many documents of a narrow query are looked at together, whether they are meant. */
const LOOK = 256;
/** How many times as many as are wanted are taken from all vectors, before those that are meant are searched alone. */
const PASSED_OVER = 8;

const MEMORIES: PositionRange = [0, FIRST_POSITION - 1];
const MESSAGES: PositionRange = [FIRST_POSITION, Number.MAX_SAFE_INTEGER];

/** What may answer a query: the documents that its words, its meaning, a key or a time in it bring. */
export class Arms {
  readonly #index: Pick<SearchIndex, "documents" | "words">;
  readonly #vectors: VectorStore;

  constructor(index: Pick<SearchIndex, "documents" | "words" | "vectors">) {
    this.#index = index;
    this.#vectors = index.vectors;
  }

  /** The query's vector in each space; in the word model's own, its rare words weigh more. */
  spaces(query: string, queryVectors: readonly QueryVector[], words: Words | null): Space[] {
    // A model may have a vector of `???`, which means nothing all the same.
    if (/^[\p{P}\s]*$/u.test(query)) return [];
    return queryVectors.flatMap(({ model, dimensions, vector }) => {
      if (vector === null || vector === "failed") return [];
      const pooledHere = words !== null && words.lexicon.model === model ? queryVectorOf(query, words) : null;
      return [{ model, dimensions, vector: pooledHere ?? vector }];
    });
  }

  byWords(asked: readonly string[], words: Words | null, { meant, limit }: Wanted): Brought {
    const rare = rareWords(asked, words);
    if (rare.length === 0) return this.#byCommonWords(asked, { meant, limit });
    const best = this.#index.words.best(matchExpression(rare), meant.isNarrow ? LOOK : 2 * limit);
    const found = firstMeant(best, meant, limit);
    return { found, capped: found.length === limit };
  }

  /** Words that all hold tell nothing from another: the last documents that have one are weighed, memories and messages. */
  #byCommonWords(asked: readonly string[], { meant, limit }: Wanted): Brought {
    const halves = [meant.kinds.memories ? MEMORIES : null, meant.kinds.messages ? MESSAGES : null];
    const last = halves
      .filter((half) => half !== null)
      .map((half) =>
        firstMeant(
          this.#index.words.last(matchExpression(asked), half, LAST_OF_COMMON),
          meant,
          LAST_OF_COMMON,
        ),
      );
    const found = last
      .flat()
      .toSorted((a, b) => b.score - a.score)
      .slice(0, limit);
    return { found, capped: found.length === limit || last.some(({ length }) => length === LAST_OF_COMMON) };
  }

  /** Facts whose topic key, or whose subject and predicate, the query names. */
  byKey(query: string, { condition: meant }: Meant): number[] {
    const named = spans(normalise(query).split(" ").map(withoutMarks));
    if (named.length === 0) return [];
    const facts = { sql: NAMED_FACTS, bindings: [JSON.stringify(named)] };
    return this.#index.documents.among(facts, meant, CANDIDATES);
  }

  /** What is of the time that the query names: the nearest of it, or the last where nothing says what is near. */
  byDate(
    stretches: readonly Stretch[],
    spaces: readonly Space[],
    { meant, limit }: Wanted,
  ): { numbers: number[]; capped: boolean } {
    const numbers = stretches.flatMap((stretch) => this.#index.documents.inTime(stretch, IN_STRETCH));
    const among = meant.among(numbers);
    const allowed = numbers.filter((n) => among.has(n));
    const [space] = spaces;
    const cosines = space === undefined ? null : this.#vectors.cosines(space, allowed);
    const nearest =
      cosines === null ? allowed : allowed.toSorted((a, b) => (cosines.get(b) ?? 0) - (cosines.get(a) ?? 0));
    return {
      numbers: nearest.slice(0, limit),
      capped: numbers.length >= IN_STRETCH || allowed.length > limit,
    };
  }

  /**
   * The nearest of each space, of what memory holds and of these documents besides. Cosines of two models do not compare, so where
   * there are two, each is scaled by its best.
   */
  byVectors(
    spaces: readonly Space[],
    besides: readonly number[],
    { meant, limit }: Wanted,
  ): { candidates: Scored[]; capped: boolean; cosines: (ns: readonly number[]) => Map<number, number> } {
    const found = spaces.map((space) => {
      const held = this.#nearest(space, meant, limit);
      const rest = Array.from(this.#vectors.cosines(space, besides), ([n, score]) => ({ n, score }));
      const all = new Map([...held, ...rest].map((one) => [one.n, one]));
      const candidates = [...all.values()].toSorted((a, b) => b.score - a.score || b.n - a.n).slice(0, limit);
      const scale = spaces.length === 1 ? 1 : 1 / Math.max(candidates[0]?.score ?? 1, Number.EPSILON);
      return { space, candidates, scale };
    });
    const candidates = found
      .flatMap((one) => one.candidates.map(({ n, score }) => ({ n, score: score * one.scale })))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, limit);
    const cosines = (ns: readonly number[]) =>
      new Map(
        found.flatMap(({ space, scale }) =>
          Array.from(this.#vectors.cosines(space, ns), ([n, score]): [number, number] => [n, score * scale]),
        ),
      );
    const capped = spaces.some((space) => isLacking(this.#vectors.missing(space), meant));
    return { candidates, capped, cosines };
  }

  /** The nearest. Most queries mean most of what is near: only for another one is all there is looked at. */
  #nearest(space: Space, meant: Meant, limit: number): Scored[] {
    const table = this.#vectors.searched(space);
    if (!meant.isNarrow) return table.nearest(space.vector, limit, (n) => meant.allows(n));
    const some = table.nearest(space.vector, limit * PASSED_OVER, () => true);
    const among = meant.among(some.map(({ n }) => n));
    const found = some.filter(({ n }) => among.has(n)).slice(0, limit);
    if (found.length === limit || some.length === table.size) return found;
    return table.nearest(space.vector, limit, (n) => meant.allows(n));
  }
}

/** Those words that only some of the documents hold: few others tell one document from another. */
function rareWords(asked: readonly string[], words: Words | null): readonly string[] {
  if (words === null) return asked;
  const { lexicon, frequencies } = words;
  const common = Math.min(COMMON_MOST, Math.max(COMMON_LEAST, COMMON_SHARE * frequencies.size));
  return asked.filter((word) => {
    const held = lexicon.pieces(word).map(frequencies.holding);
    return held.length === 0 || Math.min(...held) <= common;
  });
}

/** The first of these that are meant. */
function firstMeant(rows: Iterator<Scored>, meant: Meant, limit: number): Scored[] {
  // Without narrowing nearly all are meant: no more rows are read than are wanted.
  const look = meant.isNarrow ? LOOK : limit;
  const found: Scored[] = [];
  for (;;) {
    const some: Scored[] = [];
    for (let row = rows.next(); row.done !== true; row = rows.next())
      if (some.push(row.value) === look) break;
    const among = meant.among(some.map(({ n }) => n));
    found.push(...some.filter(({ n }) => among.has(n)));
    if (found.length >= limit || some.length < look) return found.slice(0, limit);
  }
}

/** Whether what is not in memory can be meant. */
const isLacking = (missing: Missing, { kinds }: Meant): boolean =>
  (missing.memories && kinds.memories) || (missing.messages && kinds.messages);

/** A word without what stands around it: quotes, a question mark, the s of whose something is. */
const withoutMarks = (word: string): string =>
  word.replaceAll(/^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu, "").replace(/['’]s$/u, "");
