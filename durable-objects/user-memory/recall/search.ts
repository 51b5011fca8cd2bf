import type { SearchRequest } from "../contract.ts";
import type { QueryVector } from "../../../src/platform/embeddings/embedder.ts";
import { distinctBy } from "../../../src/domain/memory/distinct.ts";
import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { namedStretches, namedTime } from "../../../src/domain/ranking/named-time.ts";
import { type Found as Unplaced, pooled, REACH } from "../../../src/domain/ranking/pool.ts";
import { contentWords } from "../../../src/domain/ranking/question.ts";
import { type Parts, rank } from "../../../src/domain/ranking/rank.ts";
import type { Arm } from "../../../src/domain/schema/recall.ts";
import type { Scored } from "../../../src/platform/vectors/vector-table.ts";
import { Arms, CANDIDATES, type Words } from "./arms.ts";
import type { Condition } from "../core/compiled.ts";
import { Meant, type Narrowing, type Searched } from "./meant.ts";
import { importanceOf } from "../memories/memory-table.ts";
import { type PieceStore, piecesOf } from "../search-index/piece-store.ts";
import { FIRST_POSITION, threadNumberOf } from "../core/position.ts";
import type { Document, Documents } from "../search-index/documents.ts";
import type { SearchIndex } from "../search-index/search-index.ts";
import type { MessageRecord } from "../threads/thread-messages.ts";

export type SearchQuery = SearchRequest &
  Narrowing & {
    /** The query in each space that documents have vectors of; the first is the one that all will have in the end. */
    queryVectors: readonly QueryVector[];
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
/** `full`: what scores are shares of (src/domain/ranking/rank.ts). */
export type SearchAnswer = { found: Found[]; arms: SearchArm[]; full: number };

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

/** Searches the index: each arm brings candidates, and these are ranked together (`src/domain/ranking`). */
export class Search {
  readonly #searched: Searched;
  readonly #documents: Documents;
  readonly #arms: Arms;
  readonly #pieces: PieceStore;

  constructor(index: SearchIndex, searched: Searched) {
    this.#searched = searched;
    this.#documents = index.documents;
    this.#arms = new Arms(index);
    this.#pieces = index.pieces;
  }

  search(query: SearchQuery, { lexicon, size, unshown, besides, far }: Around): SearchAnswer {
    const meant = new Meant(this.#searched, query);
    const words = this.#words(lexicon, size);
    const [first] = query.queryVectors;
    const spaces = this.#arms.spaces(query.query, query.queryVectors, words);
    const asked = contentWords(query.query);
    const stretches = namedStretches(query.query, query.referenceDate ?? query.moment.now);
    const wanted = { meant, limit: Math.max(CANDIDATES, query.k) };
    const lexical = asked.length === 0 ? null : this.#arms.byWords(asked, words, wanted);
    const vector = spaces.length === 0 ? null : this.#arms.byVectors(spaces, far(meant), wanted);
    const keys = this.#arms.byKey(query.query, meant);
    const dated = stretches.length === 0 ? null : this.#arms.byDate(stretches, spaces, wanted);
    // What asks for nothing in particular gets the newest.
    const { found, full } =
      lexical === null && vector === null && dated === null
        ? { found: this.#newest(query.k, meant.condition, unshown), full: 0 }
        : this.#ranked(query, {
            lexical: lexical?.found ?? [],
            vector,
            keys,
            dates: dated?.numbers ?? [],
            meant,
            words,
            unshown,
            besides,
          });
    const arms = [
      armOf("lexical", lexical && { ...lexical, brought: lexical.found.length }),
      armOf("vector", vector && { ...vector, brought: vector.candidates.length }, first),
      armOf("key", keys.length === 0 ? null : { brought: keys.length, capped: false }),
      armOf("date", dated && { ...dated, brought: dated.numbers.length }),
    ];
    return { found, full, arms };
  }

  #words(lexicon: Lexicon | null, size: number): Words | null {
    if (lexicon === null) return null;
    const holding = this.#pieces.holding(lexicon);
    return { lexicon, frequencies: { size, holding: (piece) => holding[piece] ?? 0 } };
  }

  #ranked(
    query: SearchQuery,
    given: {
      lexical: readonly Scored[];
      vector: ReturnType<Arms["byVectors"]> | null;
      keys: readonly number[];
      dates: readonly number[];
      meant: Meant;
      words: Words | null;
    } & Pick<Around, "unshown" | "besides">,
  ): Pick<SearchAnswer, "found" | "full"> {
    const { lexical } = given;
    const nearest = given.vector?.candidates ?? [];
    const seeds = new Set([...[...lexical, ...nearest].map(({ n }) => n), ...given.keys, ...given.dates]);
    const beside = given.besides([...seeds].filter((n) => n >= FIRST_POSITION));
    const unshown = given.unshown([...withNeighbours(seeds, beside)].filter((n) => n >= FIRST_POSITION));
    // What is deleted brings nobody along.
    const around = withNeighbours(new Set([...seeds].filter((n) => !unshown.has(n))), beside);
    const wanted = given.meant.among([...around].filter((n) => !unshown.has(n)));
    const documents = this.#documents.readWith<{ pieces: ArrayBuffer | null; importance: number | null }>(
      [...wanted],
      { pieces: piecesOf("documents.n"), importance: importanceOf("documents.n") },
    );
    const cosines = given.vector?.cosines(documents.map(({ n }) => n));
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
          pieces:
            pieces !== null
              ? new Uint16Array(pieces)
              : given.words === null
                ? NO_PIECES
                : distinctPieces(given.words.lexicon, text),
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
    const ordered = ranked.flatMap(({ n, score, parts }) => {
      const document = byNumber.get(n);
      return document === undefined ? [] : [{ n, score, ...(parts && { parts }), document }];
    });
    const found = distinctBy(ordered, ({ document }) => document, query.k).map((one): Found => {
      const [word, near] = [ranks.lexical.get(one.n), ranks.vector.get(one.n)];
      return {
        ...one,
        ...(word !== undefined && { lexical: word }),
        ...(near !== undefined && { vector: near }),
        ...(keys.has(one.n) && { key: true as const }),
        ...(dates.has(one.n) && { date: true as const }),
      };
    });
    return { found, full };
  }

  #newest(k: number, meant: Condition, unshown: Around["unshown"]): Found[] {
    const found: Found[] = [];
    for (const document of this.#documents.newest(meant, k)) {
      if (document.n < FIRST_POSITION || unshown([document.n]).size === 0)
        found.push({ n: document.n, score: 0, document });
      if (found.length === k) break;
    }
    return found;
  }
}

const NO_PIECES = new Uint16Array();

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

const ranksOf = (scored: readonly Scored[]): Map<number, number> =>
  new Map(scored.map(({ n }, i) => [n, i + 1]));

/** What is said of an arm; null: the query gave it nothing to search by. */
function armOf(
  name: Arm["name"],
  brought: { brought: number; capped: boolean } | null,
  asked?: QueryVector,
): SearchArm {
  const failure = asked?.vector === "failed" ? (asked.late === true ? "late" : "failed") : null;
  const status = failure ?? (brought === null ? "off" : "ok");
  return { name, status, candidates: brought?.brought ?? 0, capped: brought?.capped ?? false };
}
