import { distinctPieces, type Lexicon } from "../../src/memory/ranking/lexicon.ts";
import { namedTime } from "../../src/memory/ranking/named-time.ts";
import { type Found as Unplaced, pooled, REACH } from "../../src/memory/ranking/pool.ts";
import { contentWords, matchExpression, spans } from "../../src/memory/ranking/question.ts";
import { type Parts, rank, type Weights } from "../../src/memory/ranking/rank.ts";
import { normalise } from "../../src/memory/normalise.ts";
import { queryVectorOf } from "../../src/memory/ranking/query-vector.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import type { Arm } from "../../src/schema/recall.ts";
import type { Scored } from "../../src/vectors/vector-table.ts";
import type { Condition } from "./compiled.ts";
import { type Meant, meantBy, type Narrowing } from "./meant.ts";
import type { PieceStore } from "./piece-store.ts";
import { FIRST_POSITION, threadNumberOf } from "./position.ts";
import type { Document } from "./search-index.ts";
import type { MessageRecord } from "./thread-messages.ts";
import type { Space, VectorStore } from "./vector-store.ts";

export type SearchQuery = Narrowing & {
  query: string;
  /** The query in each space that documents have vectors of; the first is the one that all will have in the end. */
  queryVectors: readonly QueryVector[];
  k: number;
  /** What "last week" in the question is in relation to; now unless given. */
  referenceDate?: number;
  minScore?: number;
  weights?: Weights;
  /** Each hit says what its score is made of. */
  explain?: boolean;
};
export type Found = {
  n: number;
  score: number;
  parts?: Parts;
  lexical?: number;
  vector?: number;
  key?: true;
  document: Document;
};
/** An arm, without the time that it took, which only who waits for it knows. */
export type SearchArm = Omit<Arm, "ms">;
export type SearchAnswer = { found: Found[]; arms: SearchArm[] };

/** What is known of words here: the word model, and the counts of this user's documents. */
type Words = { lexicon: Lexicon; frequencies: { size: number; holding: (piece: number) => number } };

/** What a search needs to know besides the query. */
type Around = {
  /** Without one, words count only if they are the same. */
  lexicon: Lexicon | null;
  /** How many documents there are. */
  size: number;
  /** The messages among these positions that are deleted where they would be shown. */
  unshown: (positions: readonly number[]) => ReadonlySet<number>;
  /** Documents to be compared with the query although their vectors are not in memory. */
  besides: readonly number[];
};

/** How many documents each arm brings at least; 25 to 200 measured the same. */
const CANDIDATES = 64;
/** FTS5 is not asked to weigh words that more documents hold than this share of all, and than so many, nor ever than the most. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 200;
const COMMON_MOST = 5_000;
/** Of words that are all common, the newest so many documents are weighed. */
const NEWEST_OF_COMMON = 1_000;

/** Searches the index: each arm brings candidates, and these are ranked together (`src/memory/ranking`). */
export class Search {
  readonly #sql: SqlStorage;
  readonly #vectors: VectorStore;
  readonly #pieces: PieceStore;

  constructor(sql: SqlStorage, { vectors, pieces }: { vectors: VectorStore; pieces: PieceStore }) {
    this.#sql = sql;
    this.#vectors = vectors;
    this.#pieces = pieces;
  }

  search(query: SearchQuery, { lexicon, size, unshown, besides }: Around): SearchAnswer {
    const meant = meantBy(this.#sql, query);
    const holding = lexicon === null ? null : this.#pieces.holding(lexicon);
    const words: Words | null =
      lexicon === null || holding === null
        ? null
        : { lexicon, frequencies: { size, holding: (piece) => holding[piece] ?? 0 } };
    const limit = Math.max(CANDIDATES, query.k);
    const [first] = query.queryVectors;
    const spaces = this.#spaces(query, words);
    const asked = contentWords(query.query);
    const lexical = asked.length === 0 ? null : this.#byWords(asked, { words, meant, limit });
    const byVector = spaces.length === 0 ? null : this.#byVectors(spaces, { meant, limit, besides });
    const keys = this.#byKey(query.query, meant.condition);
    // What asks for nothing in particular gets the newest.
    const newest = asked.length === 0 && spaces.length === 0;
    const found = newest
      ? this.#newest(query.k, meant.condition, unshown)
      : this.#ranked(query, { lexical, byVector, keys, meant: meant.condition, words, unshown });
    return {
      found,
      arms: [
        {
          name: "lexical",
          status: lexical === null ? "off" : "ok",
          candidates: lexical?.length ?? 0,
          capped: lexical?.length === limit,
        },
        {
          name: "vector",
          status: first?.vector === "failed" ? failureOf(first) : byVector === null ? "off" : "ok",
          candidates: byVector?.candidates.length ?? 0,
          capped: spaces.some((space) => this.#vectors.table(space).full),
        },
        { name: "key", status: keys.length === 0 ? "off" : "ok", candidates: keys.length, capped: false },
      ],
    };
  }

  #ranked(
    query: SearchQuery,
    given: {
      lexical: Scored[] | null;
      byVector: { candidates: Scored[]; cosines: (ns: readonly number[]) => Map<number, number> } | null;
      keys: readonly number[];
      meant: Condition;
      words: Words | null;
      unshown: Around["unshown"];
    },
  ): Found[] {
    const lexical = given.lexical ?? [];
    const nearest = given.byVector?.candidates ?? [];
    const seeds = new Set([...[...lexical, ...nearest].map(({ n }) => n), ...given.keys]);
    const unshown = given.unshown([...withNeighbours(seeds)].filter((n) => n >= FIRST_POSITION));
    // What is deleted brings nobody along.
    const around = withNeighbours(new Set([...seeds].filter((n) => !unshown.has(n))));
    const documents = this.#documents(
      [...around].filter((n) => !unshown.has(n)),
      given.meant,
    );
    const cosines = given.byVector?.cosines(documents.map(({ n }) => n));
    const [keys, bm25] = [new Set(given.keys), new Map(lexical.map(({ n, score }) => [n, score]))];
    const pool = pooled(
      documents.map((document): Unplaced => {
        const { n, text, pieces, importance } = document;
        const { name = null } = n < FIRST_POSITION ? {} : (JSON.parse(document.record) as MessageRecord);
        return {
          n,
          said: n >= FIRST_POSITION,
          text,
          speaker: name,
          createdAt: document.createdAt,
          pieces: pieces ?? (given.words === null ? NO_PIECES : distinctPieces(given.words.lexicon, text)),
          words: bm25.get(n) ?? 0,
          cosine: cosines?.get(n),
          key: keys.has(n),
          importance: importance ?? 0,
        };
      }),
      sameThread,
    );
    const time = namedTime(query.query, query.referenceDate ?? query.moment.now);
    const question = { text: query.query, now: query.moment.now, time };
    const ranked = rank(question, pool, {
      words: given.words,
      ...(query.weights && { weights: query.weights }),
      explain: query.explain ?? false,
    });
    const byNumber = new Map(documents.map((document) => [document.n, document]));
    const ranks = { lexical: ranksOf(lexical), vector: ranksOf(nearest) };
    return distinct(ranked, byNumber)
      .filter(({ score }) => score >= (query.minScore ?? 0))
      .slice(0, query.k)
      .flatMap(({ n, score, parts }) => {
        const document = byNumber.get(n);
        if (document === undefined) return [];
        const [word, near] = [ranks.lexical.get(n), ranks.vector.get(n)];
        return [
          {
            n,
            score,
            ...(parts && { parts }),
            ...(word !== undefined && { lexical: word }),
            ...(near !== undefined && { vector: near }),
            ...(keys.has(n) && { key: true as const }),
            document,
          },
        ];
      });
  }

  /** The query's vector in each space; in the word model's own, its rare words weigh more. */
  #spaces({ query, queryVectors }: SearchQuery, words: Words | null): Space[] {
    // A model may have a vector of `???`, which means nothing all the same.
    if (/^[\p{P}\s]*$/u.test(query)) return [];
    return queryVectors.flatMap(({ model, dimensions, vector }) => {
      if (vector === null || vector === "failed") return [];
      const pooledHere = words !== null && words.lexicon.model === model ? queryVectorOf(query, words) : null;
      return [{ model, dimensions, vector: pooledHere ?? vector }];
    });
  }

  /** In FTS5's own order, which is several times as fast as one that looks at each document that has a word. */
  #byWords(
    asked: readonly string[],
    { words, meant, limit }: { words: Words | null; meant: Meant; limit: number },
  ): Scored[] {
    const rare = rareWords(asked, words);
    const best =
      rare.length > 0
        ? this.#sql.exec<Scored>(
            "SELECT rowid AS n, -rank AS score FROM words WHERE words MATCH ? ORDER BY rank",
            matchExpression(rare),
          )
        : this.#sql.exec<Scored>(
            `SELECT n, score FROM (SELECT rowid AS n, -bm25(words) AS score FROM words WHERE words MATCH ?
               ORDER BY rowid DESC LIMIT ${NEWEST_OF_COMMON}) ORDER BY score DESC`,
            matchExpression(asked),
          );
    const found: Scored[] = [];
    for (const one of best) {
      if (meant.allows(one.n)) found.push(one);
      if (found.length === limit) break;
    }
    return found;
  }

  /** Facts whose topic key, or whose subject and predicate, the query names. */
  #byKey(query: string, meant: Condition): number[] {
    const named = spans(normalise(query).split(" ").map(withoutMarks));
    if (named.length === 0) return [];
    return this.#sql
      .exec<{ n: number }>(
        `SELECT documents.n FROM (
           SELECT version FROM json_each(?1) AS named JOIN memories INDEXED BY memories_by_key ON key_norm = named.value
           UNION
           SELECT version FROM json_each(?1) AS named
             JOIN memories INDEXED BY memories_by_triple ON subject_norm = named.value
           WHERE predicate_norm IN (SELECT value FROM json_each(?1))
         ) AS keyed CROSS JOIN documents ON documents.n = keyed.version WHERE ${meant.sql} LIMIT ${CANDIDATES}`,
        JSON.stringify(named),
        ...meant.bindings,
      )
      .toArray()
      .map(({ n }) => n);
  }

  /** The nearest of each space. Cosines of two models do not compare, so where there are two, each is scaled by its best. */
  #byVectors(
    spaces: readonly Space[],
    { meant, limit, besides }: { meant: Meant; limit: number; besides: readonly number[] },
  ) {
    const allowed = besides.filter(meant.allows);
    const found = spaces.map((space) => {
      const held = this.#vectors.table(space).nearest(space.vector, limit, meant.allows);
      const rest = Array.from(this.#vectors.cosines(space, allowed), ([n, score]) => ({ n, score }));
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
    return { candidates, cosines };
  }

  #newest(k: number, meant: Condition, unshown: Around["unshown"]): Found[] {
    const rows = this.#sql.exec<DocumentRow>(
      `SELECT n, kind, text, record, created_at FROM documents WHERE ${meant.sql} ORDER BY created_at DESC, n DESC`,
      ...meant.bindings,
    );
    const found: Found[] = [];
    for (const row of rows) {
      if (found.length === k) break;
      if (row.n < FIRST_POSITION || unshown([row.n]).size === 0)
        found.push({ n: row.n, score: 0, document: documentOf(row) });
    }
    return found;
  }

  /** Those of these documents that are meant, with what ranks them. */
  #documents(numbers: readonly number[], meant: Condition): RankedDocument[] {
    return this.#sql
      .exec<DocumentRow & { pieces: ArrayBuffer | null; importance: number | null }>(
        `SELECT documents.n, kind, text, record, created_at, pieces.data AS pieces,
           IIF(documents.n < ${FIRST_POSITION},
             (SELECT importance FROM memories WHERE version = documents.n), NULL) AS importance
         FROM documents LEFT JOIN pieces ON pieces.n = documents.n
         WHERE documents.n IN (SELECT value FROM json_each(?)) AND ${meant.sql}`,
        JSON.stringify(numbers),
        ...meant.bindings,
      )
      .toArray()
      .map((row) => ({
        ...documentOf(row),
        pieces: row.pieces === null ? null : new Uint16Array(row.pieces),
        importance: row.importance,
      }));
  }
}

type DocumentRow = Omit<Document, "createdAt"> & { created_at: number };
type RankedDocument = Document & { pieces: Uint16Array | null; importance: number | null };

const NO_PIECES = new Uint16Array();

const documentOf = ({ n, kind, text, record, created_at: createdAt }: DocumentRow): Document => ({
  n,
  kind,
  text,
  record,
  createdAt,
});

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

const failureOf = ({ late }: QueryVector): "late" | "failed" => (late === true ? "late" : "failed");

/** The same numbers, and those of the messages around each message. */
function withNeighbours(seeds: ReadonlySet<number>): Set<number> {
  const all = new Set(seeds);
  for (const n of seeds)
    for (let step = -REACH; step <= REACH; step++) if (sameThread(n, n + step)) all.add(n + step);
  return all;
}

const sameThread = (a: number, b: number): boolean =>
  a >= FIRST_POSITION && b >= FIRST_POSITION && threadNumberOf(a) === threadNumberOf(b);

/** A word without what stands around it: quotes, a question mark. */
const withoutMarks = (word: string): string =>
  word.replaceAll(/^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu, "");

const ranksOf = (scored: readonly Scored[]): Map<number, number> =>
  new Map(scored.map(({ n }, i) => [n, i + 1]));

/** Of several that say the same, the best. */
function distinct<T extends { n: number }>(ranked: readonly T[], documents: Map<number, Document>): T[] {
  const said = new Set<string>();
  return ranked.filter(({ n }) => {
    const document = documents.get(n);
    const words = document === undefined ? "" : `${document.kind} ${normalise(document.text)}`;
    if (said.has(words)) return false;
    said.add(words);
    return true;
  });
}
