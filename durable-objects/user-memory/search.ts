import { and } from "drizzle-orm";
import { filterConditions, type Moment, visibleAt } from "../../src/d1/memory-filter.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import { distinctPieces, type Lexicon } from "../../src/memory/ranking/lexicon.ts";
import { namedTime } from "../../src/memory/ranking/named-time.ts";
import { type Found as Unplaced, pooled, REACH } from "../../src/memory/ranking/pool.ts";
import { contentWords, matchExpression } from "../../src/memory/ranking/question.ts";
import { rank, type Weights } from "../../src/memory/ranking/rank.ts";
import { normalise } from "../../src/memory/normalise.ts";
import { queryVectorOf } from "../../src/memory/ranking/query-vector.ts";
import type { MemoryFilter } from "../../src/schema/memory-filter.ts";
import type { Arm, RecallKind } from "../../src/schema/recall.ts";
import type { Scored, VectorTable } from "../../src/vectors/vector-table.ts";
import { compiled, type Condition } from "./compiled.ts";
import type { PieceStore } from "./piece-store.ts";
import { FIRST_POSITION, type PositionRange, threadNumberOf } from "./position.ts";
import type { Document } from "./search-index.ts";
import type { MessageRecord } from "./thread-messages.ts";
import type { VectorStore } from "./vector-store.ts";

export type SearchQuery = {
  query: string;
  /** The query in each space that documents have vectors of; the first is the one that all will have in the end. */
  queryVectors: readonly QueryVector[];
  k: number;
  kinds?: RecallKind[];
  /** Only memories that it means; messages have none of its fields. */
  filter?: Omit<MemoryFilter, "kinds" | "status">;
  /** Only messages in these ranges of positions. */
  ranges?: readonly PositionRange[];
  moment: Moment & { now: number };
  /** What "last week" in the question is in relation to; now unless given. */
  referenceDate?: number;
  minScore?: number;
  weights?: Weights;
};
export type Found = {
  n: number;
  score: number;
  lexical?: number;
  vector?: number;
  key?: true;
  document: Document;
};
export type SearchAnswer = { found: Found[]; arms: Arm[] };

/** A query's vector, and the table that is searched with it. */
type Space = { table: VectorTable; vector: Float32Array };
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
};

/** The documents that a query means; `hidden`: how many it does not, or null if it means some only. */
type Chosen = { allows: (n: number) => boolean; hidden: number | null };

/** How many hidden documents the words' arm passes over. */
const MOST_HIDDEN = 500;

/** How many documents each arm brings at least; 25 to 200 measured the same. */
const CANDIDATES = 64;
/** FTS5 is not asked for words that more documents hold than this share of all, and than so many. */
const COMMON_SHARE = 0.1;
const COMMON_LEAST = 200;

/** Versions that may be hidden at some time; all others are true since they were recorded, for good. */
export const GUARDED = `(corrected_at IS NOT NULL OR superseded_at IS NOT NULL OR valid_to IS NOT NULL
  OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at)`;

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

  search(query: SearchQuery, { lexicon, size, unshown }: Around): SearchAnswer {
    const meant = meantBy(query);
    const holding = lexicon === null ? null : this.#pieces.holding(lexicon);
    const words: Words | null =
      lexicon === null || holding === null
        ? null
        : { lexicon, frequencies: { size, holding: (piece) => holding[piece] ?? 0 } };
    const limit = Math.max(CANDIDATES, query.k);
    const [first] = query.queryVectors;
    const spaces = this.#spaces(query, words);
    const asked = searchWords(query.query, words);
    const chosen = this.#chosen(query, meant);
    const lexical =
      asked.length === 0 ? null : this.#byWords(matchExpression(asked), { meant, chosen, limit });
    const byVector = spaces.length === 0 ? null : this.#byVectors(spaces, chosen.allows, limit);
    const keys = this.#byKey(query.query, meant);
    // What asks for nothing in particular gets the newest.
    const newest = asked.length === 0 && spaces.length === 0;
    const found = newest
      ? this.#newest(query.k, meant, unshown)
      : this.#ranked(query, { lexical, byVector, keys, meant, words, unshown });
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
          status: first?.vector === "failed" ? "failed" : byVector === null ? "off" : "ok",
          candidates: byVector?.candidates.length ?? 0,
          capped: spaces.some(({ table }) => table.full),
        },
        { name: "key", status: keys.length === 0 ? "off" : "ok", candidates: keys.length, capped: false },
      ],
    };
  }

  #ranked(
    query: SearchQuery,
    given: {
      lexical: Scored[] | null;
      byVector: { candidates: Scored[]; cosine: (n: number) => number | undefined } | null;
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
          cosine: given.byVector?.cosine(n),
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
    });
    const byNumber = new Map(documents.map((document) => [document.n, document]));
    const ranks = { lexical: ranksOf(lexical), vector: ranksOf(nearest) };
    return distinct(ranked, byNumber)
      .filter(({ score }) => score >= (query.minScore ?? 0))
      .slice(0, query.k)
      .flatMap(({ n, score }) => {
        const document = byNumber.get(n);
        if (document === undefined) return [];
        const [word, near] = [ranks.lexical.get(n), ranks.vector.get(n)];
        return [
          {
            n,
            score,
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
    return queryVectors.flatMap((one) => {
      if (one.vector === null || one.vector === "failed") return [];
      const pooledHere =
        words !== null && words.lexicon.model === one.model ? queryVectorOf(query, words) : null;
      return [{ table: this.#vectors.table(one), vector: pooledHere ?? one.vector }];
    });
  }

  #byWords(
    words: string,
    { meant, chosen, limit }: { meant: Condition; chosen: Chosen; limit: number },
  ): Scored[] {
    if (chosen.hidden === null || chosen.hidden > MOST_HIDDEN)
      return this.#sql
        .exec<Scored>(
          `SELECT n, -bm25(words) AS score FROM words JOIN documents ON n = words.rowid
           WHERE words MATCH ? AND ${meant.sql} ORDER BY score DESC LIMIT ?`,
          words,
          ...meant.bindings,
          limit,
        )
        .toArray();
    // Nearly all are meant: FTS5's own order is several times as fast as a look at each document that has a word.
    return this.#sql
      .exec<Scored>(
        "SELECT rowid AS n, -rank AS score FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?",
        words,
        limit + chosen.hidden,
      )
      .toArray()
      .filter(({ n }) => chosen.allows(n))
      .slice(0, limit);
  }

  /** Facts whose key the query names. */
  #byKey(query: string, meant: Condition): number[] {
    return this.#sql
      .exec<{ n: number }>(
        `SELECT documents.n FROM memories AS keyed INDEXED BY memories_by_key
         JOIN documents ON documents.n = keyed.version
         WHERE keyed.key_norm IS NOT NULL AND instr(?, ' ' || keyed.key_norm || ' ') > 0 AND ${meant.sql} LIMIT ${CANDIDATES}`,
        ` ${normalise(query).split(" ").map(withoutMarks).join(" ")} `,
        ...meant.bindings,
      )
      .toArray()
      .map(({ n }) => n);
  }

  /** The nearest of each space. Cosines of two models do not compare, so where there are two, each is scaled by its best. */
  #byVectors(spaces: readonly Space[], allowed: (n: number) => boolean, limit: number) {
    const found = spaces.map((space) => {
      const candidates = space.table.nearest(space.vector, limit, allowed);
      const scale = spaces.length === 1 ? 1 : 1 / Math.max(candidates[0]?.score ?? 1, Number.EPSILON);
      return { ...space, candidates, scale };
    });
    const candidates = found
      .flatMap((one) => one.candidates.map(({ n, score }) => ({ n, score: score * one.scale })))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, limit);
    const cosine = (n: number): number | undefined => {
      for (const { table, vector, scale } of found) {
        const score = table.score(n, vector);
        if (score !== undefined) return score * scale;
      }
      return undefined;
    };
    return { candidates, cosine };
  }

  /** Which documents the query means: all but the hidden ones, if it does not say more than that. */
  #chosen(query: SearchQuery, meant: Condition): Chosen {
    const narrow =
      query.kinds !== undefined ||
      query.filter !== undefined ||
      query.ranges !== undefined ||
      query.moment.asOf !== undefined ||
      query.moment.validAt !== undefined;
    if (narrow) {
      const all = this.#all(meant);
      return { allows: (n) => all.has(n), hidden: null };
    }
    const hidden = this.#hidden(query.moment);
    return { allows: (n) => !hidden.has(n), hidden: hidden.size };
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

  /** All documents that are meant. */
  #all(meant: Condition): Set<number> {
    const rows = this.#sql.exec<{ n: number }>(
      `SELECT n FROM documents WHERE ${meant.sql}`,
      ...meant.bindings,
    );
    return new Set(Array.from(rows, ({ n }) => n));
  }

  /** Versions that are not to be found now. They are among those in the index `memories_guarded`: all history, and what has an end. */
  #hidden(moment: Moment): Set<number> {
    const { sql, bindings } = compiled(visibleAt(moment));
    const rows = this.#sql.exec<{ n: number }>(
      `SELECT version AS n FROM memories INDEXED BY memories_guarded
       WHERE ${GUARDED} AND NOT (${sql} AND status = 'active')`,
      ...bindings,
    );
    return new Set(Array.from(rows, ({ n }) => n));
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

/** The words that FTS5 is asked for: not those that a large share of the documents hold, unless there are no others. */
function searchWords(query: string, words: Words | null): string[] {
  const asked = contentWords(query);
  if (words === null) return asked;
  const { lexicon, frequencies } = words;
  const common = Math.max(COMMON_LEAST, COMMON_SHARE * frequencies.size);
  const rare = asked.filter((word) => {
    const held = lexicon.pieces(word).map(frequencies.holding);
    return held.length === 0 || Math.min(...held) <= common;
  });
  return rare.length > 0 ? rare : asked;
}

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

/** Which documents the query means, as SQL over `documents`. */
function meantBy(query: SearchQuery): Condition {
  const messages = messagesOf(query);
  const memories = memoriesOf(query);
  return {
    sql: `((documents.n >= ${FIRST_POSITION} AND ${messages.sql}) OR (documents.n < ${FIRST_POSITION} AND ${memories.sql}))`,
    bindings: [...messages.bindings, ...memories.bindings],
  };
}

const nothing: Condition = { sql: "FALSE", bindings: [] };

function messagesOf({ kinds, filter, ranges, moment }: SearchQuery): Condition {
  if (filter !== undefined || kinds?.includes("message") === false) return nothing;
  const conditions = ["TRUE"];
  const bindings: (string | number)[] = [];
  if (ranges !== undefined) {
    conditions.push(`documents.n IN (SELECT own.n FROM json_each(?) AS range
      JOIN documents AS own ON own.n BETWEEN range.value ->> 0 AND range.value ->> 1)`);
    bindings.push(JSON.stringify(ranges));
  }
  if (moment.asOf !== undefined) {
    conditions.push("documents.created_at <= ?");
    bindings.push(moment.asOf);
  }
  return { sql: conditions.join(" AND "), bindings };
}

function memoriesOf({ kinds, filter, ranges, moment }: SearchQuery): Condition {
  const memoryKinds = kinds?.filter((kind) => kind !== "message");
  if (ranges !== undefined || memoryKinds?.length === 0) return nothing;
  const conditions = filterConditions({
    ...filter,
    status: ["active"],
    ...(memoryKinds && { kinds: memoryKinds }),
  });
  const { sql, bindings } = compiled(and(visibleAt(moment), ...conditions));
  return { sql: `EXISTS (SELECT 1 FROM memories WHERE memories.version = documents.n AND ${sql})`, bindings };
}
