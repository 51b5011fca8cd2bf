import { distinctPieces, type Lexicon } from "../../src/memory/ranking/lexicon.ts";
import { namedStretches, namedTime } from "../../src/memory/ranking/named-time.ts";
import { type Found as Unplaced, pooled, REACH } from "../../src/memory/ranking/pool.ts";
import { contentWords, matchExpression, spans } from "../../src/memory/ranking/question.ts";
import { type Parts, rank, type Weights } from "../../src/memory/ranking/rank.ts";
import { normalise } from "../../src/memory/normalise.ts";
import { queryVectorOf } from "../../src/memory/ranking/query-vector.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import type { Arm } from "../../src/schema/recall.ts";
import type { Scored } from "../../src/vectors/vector-table.ts";
import type { Condition } from "./compiled.ts";
import { Meant, type Narrowing } from "./meant.ts";
import type { HeldVectors } from "./held-vectors.ts";
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
  date?: true;
  document: Document;
};
/** An arm, without the time that it took, which only who waits for it knows. */
export type SearchArm = Omit<Arm, "ms">;
/** `full`: what scores are shares of (src/memory/ranking/rank.ts). */
export type SearchAnswer = { found: Found[]; arms: SearchArm[]; full: number };

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
  /** Where the messages around these are. */
  besides: (positions: readonly number[]) => (position: number, step: number) => number | null;
  /** Documents to be compared with the query although their vectors are not in memory, of those that are meant. */
  far: (meant: Meant) => readonly number[];
};

/** How many documents each arm brings at least; 25 to 200 measured the same. */
const CANDIDATES = 64;
/** FTS5 is not asked to weigh words that more documents hold than this share of all, and than so many, nor ever than the most. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 200;
const COMMON_MOST = 5_000;
/** Of a stretch of time that the query names, the last so many documents are looked at. */
const IN_STRETCH = 2_000;
/** Of words that are all common, the last so many documents are weighed, of memories and of messages. */
const LAST_OF_COMMON = 1_000;
/** How many documents are looked at together, whether they are meant. */
const LOOK = 256;
/** How many times as many as are wanted are taken from all vectors, before those that are meant are searched alone. */
const PASSED_OVER = 8;

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

  search(query: SearchQuery, { lexicon, size, unshown, besides, far }: Around): SearchAnswer {
    const meant = new Meant(this.#sql, query);
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
    const byVector = spaces.length === 0 ? null : this.#byVectors(spaces, { meant, limit, far });
    const keys = this.#byKey(query.query, meant.condition);
    const dated = this.#byDate(query, { meant, limit, spaces });
    // What asks for nothing in particular gets the newest.
    const newest = asked.length === 0 && spaces.length === 0 && dated === null;
    const { found, full } = newest
      ? { found: this.#newest(query.k, meant.condition, unshown), full: 0 }
      : this.#ranked(query, {
          lexical: lexical?.found ?? [],
          byVector,
          keys,
          dates: dated?.numbers ?? [],
          meant: meant.condition,
          words,
          unshown,
          besides,
        });
    return {
      found,
      full,
      arms: [
        {
          name: "lexical",
          status: lexical === null ? "off" : "ok",
          candidates: lexical?.found.length ?? 0,
          capped: lexical?.capped ?? false,
        },
        {
          name: "vector",
          status: first?.vector === "failed" ? failureOf(first) : byVector === null ? "off" : "ok",
          candidates: byVector?.candidates.length ?? 0,
          capped: spaces.some((space) => isLacking(this.#vectors.missing(space), meant)),
        },
        { name: "key", status: keys.length === 0 ? "off" : "ok", candidates: keys.length, capped: false },
        {
          name: "date",
          status: dated === null ? "off" : "ok",
          candidates: dated?.numbers.length ?? 0,
          capped: dated?.capped ?? false,
        },
      ],
    };
  }

  #ranked(
    query: SearchQuery,
    given: {
      lexical: readonly Scored[];
      byVector: { candidates: Scored[]; cosines: (ns: readonly number[]) => Map<number, number> } | null;
      keys: readonly number[];
      dates: readonly number[];
      meant: Condition;
      words: Words | null;
    } & Pick<Around, "unshown" | "besides">,
  ): Pick<SearchAnswer, "found" | "full"> {
    const { lexical } = given;
    const nearest = given.byVector?.candidates ?? [];
    const seeds = new Set([...[...lexical, ...nearest].map(({ n }) => n), ...given.keys, ...given.dates]);
    const beside = given.besides([...seeds].filter((n) => n >= FIRST_POSITION));
    const unshown = given.unshown([...withNeighbours(seeds, beside)].filter((n) => n >= FIRST_POSITION));
    // What is deleted brings nobody along.
    const around = withNeighbours(new Set([...seeds].filter((n) => !unshown.has(n))), beside);
    const documents = this.#documents(
      [...around].filter((n) => !unshown.has(n)),
      given.meant,
    );
    const cosines = given.byVector?.cosines(documents.map(({ n }) => n));
    const [keys, dates] = [new Set(given.keys), new Set(given.dates)];
    const bm25 = new Map(lexical.map(({ n, score }) => [n, score]));
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
      { sameThread, beside: (n, step) => (n >= FIRST_POSITION ? beside(n, step) : null) },
    );
    const time = namedTime(query.query, query.referenceDate ?? query.moment.now);
    const question = { text: query.query, now: query.moment.now, time };
    const { ranked, full } = rank(question, pool, {
      words: given.words,
      ...(query.weights && { weights: query.weights }),
      explain: query.explain ?? false,
    });
    const byNumber = new Map(documents.map((document) => [document.n, document]));
    const ranks = { lexical: ranksOf(lexical), vector: ranksOf(nearest) };
    const found = distinct(ranked, byNumber)
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
            ...(dates.has(n) && { date: true as const }),
            document,
          },
        ];
      });
    return { found, full };
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

  #byWords(
    asked: readonly string[],
    { words, meant, limit }: { words: Words | null; meant: Meant; limit: number },
  ): { found: Scored[]; capped: boolean } {
    const rare = rareWords(asked, words);
    if (rare.length === 0) return this.#byCommonWords(asked, { meant, limit });
    // In FTS5's own order, which is several times as fast as one that looks at each document that has a word.
    const best = this.#sql.exec<Scored>(
      "SELECT rowid AS n, -rank AS score FROM words WHERE words MATCH ? ORDER BY rank",
      matchExpression(rare),
    );
    const found = firstMeant(best, meant, limit);
    return { found, capped: found.length === limit };
  }

  /** Words that all hold tell nothing from another: the last documents that have one are weighed, memories and messages. */
  #byCommonWords(
    asked: readonly string[],
    { meant, limit }: { meant: Meant; limit: number },
  ): { found: Scored[]; capped: boolean } {
    const halves = [
      meant.kinds.memories ? `rowid < ${FIRST_POSITION}` : null,
      meant.kinds.messages ? `rowid >= ${FIRST_POSITION}` : null,
    ].filter((half) => half !== null);
    const last = halves.map((half) => {
      const rows = this.#sql.exec<Scored>(
        `SELECT rowid AS n, -bm25(words) AS score FROM words WHERE words MATCH ? AND ${half} ORDER BY rowid DESC`,
        matchExpression(asked),
      );
      return firstMeant(rows, meant, LAST_OF_COMMON);
    });
    const found = last
      .flat()
      .toSorted((a, b) => b.score - a.score)
      .slice(0, limit);
    return { found, capped: found.length === limit || last.some(({ length }) => length === LAST_OF_COMMON) };
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
           -- The subjects that there are first: else each other run of words looks for every predicate.
           SELECT version FROM (
             SELECT value FROM json_each(?1) WHERE EXISTS (
               SELECT 1 FROM memories INDEXED BY memories_by_triple
               WHERE subject_norm = value AND predicate_norm IS NOT NULL)
           ) AS named CROSS JOIN memories INDEXED BY memories_by_triple ON subject_norm = named.value
           WHERE predicate_norm IN (SELECT value FROM json_each(?1))
         ) AS keyed CROSS JOIN documents ON documents.n = keyed.version WHERE ${meant.sql} LIMIT ${CANDIDATES}`,
        JSON.stringify(named),
        ...meant.bindings,
      )
      .toArray()
      .map(({ n }) => n);
  }

  /** What is of the time that the query names: the nearest of it, or the last where nothing says what is near. */
  #byDate(
    { query, referenceDate, moment }: SearchQuery,
    { meant, limit, spaces }: { meant: Meant; limit: number; spaces: readonly Space[] },
  ): { numbers: number[]; capped: boolean } | null {
    const stretches = namedStretches(query, referenceDate ?? moment.now);
    if (stretches.length === 0) return null;
    const numbers = stretches.flatMap(({ from, to }) =>
      this.#sql
        .exec<{ n: number }>(
          `SELECT n FROM documents INDEXED BY documents_by_time WHERE created_at >= ? AND created_at < ?
           ORDER BY created_at DESC, n DESC LIMIT ${IN_STRETCH}`,
          from,
          to,
        )
        .toArray()
        .map(({ n }) => n),
    );
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

  /** The nearest of each space. Cosines of two models do not compare, so where there are two, each is scaled by its best. */
  #byVectors(
    spaces: readonly Space[],
    { meant, limit, far }: { meant: Meant; limit: number; far: Around["far"] },
  ) {
    const besides = far(meant);
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
    return { candidates, cosines };
  }

  /** The nearest in memory. Most queries mean most of what is near: only for another one is all there is looked at. */
  #nearest(space: Space, meant: Meant, limit: number): Scored[] {
    const table = this.#vectors.table(space);
    if (!meant.isNarrow) return table.nearest(space.vector, limit, (n) => meant.allows(n));
    const some = table.nearest(space.vector, limit * PASSED_OVER, () => true);
    const among = meant.among(some.map(({ n }) => n));
    const found = some.filter(({ n }) => among.has(n)).slice(0, limit);
    if (found.length === limit || some.length === table.size) return found;
    return table.nearest(space.vector, limit, (n) => meant.allows(n));
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

/** The first of these that are meant. */
function firstMeant(rows: Iterator<Scored>, meant: Meant, limit: number): Scored[] {
  const found: Scored[] = [];
  for (;;) {
    const some: Scored[] = [];
    for (let row = rows.next(); row.done !== true; row = rows.next())
      if (some.push(row.value) === LOOK) break;
    const among = meant.among(some.map(({ n }) => n));
    found.push(...some.filter(({ n }) => among.has(n)));
    if (found.length >= limit || some.length < LOOK) return found.slice(0, limit);
  }
}

/** Whether what is not in memory can be meant. */
const isLacking = (missing: HeldVectors["missing"], { kinds }: Meant): boolean =>
  (missing.memories && kinds.memories) || (missing.messages && kinds.messages);

/** The same numbers, and those of the messages around each message. */
function withNeighbours(
  seeds: ReadonlySet<number>,
  beside: (position: number, step: number) => number | null,
): Set<number> {
  const all = new Set(seeds);
  for (const n of seeds) {
    if (n < FIRST_POSITION) continue;
    for (let step = -REACH; step <= REACH; step++) {
      const other = beside(n, step);
      if (other !== null) all.add(other);
    }
  }
  return all;
}

const sameThread = (a: number, b: number): boolean =>
  a >= FIRST_POSITION && b >= FIRST_POSITION && threadNumberOf(a) === threadNumberOf(b);

/** A word without what stands around it: quotes, a question mark, the s of whose something is. */
const withoutMarks = (word: string): string =>
  word.replaceAll(/^[^\p{L}\p{N}\p{M}]+|[^\p{L}\p{N}\p{M}]+$/gu, "").replace(/['’]s$/u, "");

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
