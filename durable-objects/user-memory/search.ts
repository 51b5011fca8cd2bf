import { and, type SQL } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { filterConditions, type Moment, visibleAt } from "../../src/d1/memory-filter.ts";
import type { QueryVector } from "../../src/embeddings/embedder.ts";
import { type Candidate, fuse, type Fused } from "../../src/memory/fuse.ts";
import { wordQuery } from "../../src/memory/query-terms.ts";
import type { MemoryFilter } from "../../src/schema/memory-filter.ts";
import type { Arm, RecallKind } from "../../src/schema/recall.ts";
import type { VectorTable } from "../../src/vectors/vector-table.ts";
import { FIRST_POSITION, type PositionRange } from "./position.ts";
import type { Document } from "./search-index.ts";
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
};
export type Found = Fused & { document: Document };
export type SearchAnswer = { found: Found[]; arms: Arm[] };

type Condition = { sql: string; bindings: (string | number)[] };
/** A query's vector, and the table that is searched with it. */
type Space = { table: VectorTable; vector: Float32Array };

/** How many documents each arm brings into the fusion. */
const CANDIDATES = 200;

/** Versions that may be hidden at some time; all others are true since they were recorded, for good. */
export const GUARDED = `(corrected_at IS NOT NULL OR superseded_at IS NOT NULL OR valid_to IS NOT NULL
  OR expires_at IS NOT NULL OR status <> 'active' OR valid_from > recorded_at)`;

const dialect = new SQLiteSyncDialect();

/** Searches the index: each arm finds candidates, and their scores are fused. Reads only. */
export class Search {
  readonly #sql: SqlStorage;
  readonly #vectors: VectorStore;

  constructor(sql: SqlStorage, vectors: VectorStore) {
    this.#sql = sql;
    this.#vectors = vectors;
  }

  search(query: SearchQuery): SearchAnswer {
    const meant = meantBy(query);
    const [first] = query.queryVectors;
    const spaces = query.queryVectors.flatMap((one) =>
      one.vector === null || one.vector === "failed"
        ? []
        : [{ table: this.#vectors.table(one), vector: one.vector }],
    );
    const words = wordQuery(query.query);
    const lexical = words === null ? null : this.#byWords(words, meant);
    const byVector = spaces.length === 0 ? null : this.#byVectors(spaces, query, meant);
    // A query of no word and no meaning (`???`) asks for nothing in particular: it gets the newest.
    const newest = words === null && spaces.length === 0 && first?.vector === null;
    const fused = newest
      ? this.#newest(query.k, meant)
      : fuse(lexical, byVector?.candidates ?? null, byVector?.cosine ?? none);
    return {
      found: fused.slice(0, query.k).flatMap((hit) => {
        const document = this.#document(hit.n);
        return document === null ? [] : [{ ...hit, document }];
      }),
      arms: [
        {
          name: "lexical",
          status: lexical === null ? "off" : "ok",
          candidates: lexical?.length ?? 0,
          capped: lexical?.length === CANDIDATES,
        },
        {
          name: "vector",
          status: first?.vector === "failed" ? "failed" : byVector === null ? "off" : "ok",
          candidates: byVector?.candidates.length ?? 0,
          capped: spaces.some(({ table }) => table.full),
        },
      ],
    };
  }

  #byWords(words: string, meant: Condition): Candidate[] {
    return this.#sql
      .exec<Candidate>(
        `SELECT n, -bm25(words) AS score FROM words JOIN documents ON n = words.rowid
         WHERE words MATCH ? AND ${meant.sql} ORDER BY score DESC LIMIT ${CANDIDATES}`,
        words,
        ...meant.bindings,
      )
      .toArray();
  }

  /** The nearest of each space. Cosines of two models do not compare, so where there are two, each is scaled by its best. */
  #byVectors(spaces: readonly Space[], query: SearchQuery, meant: Condition) {
    const found = spaces.map((space) => {
      const candidates = this.#nearest(space, query, meant);
      const scale = spaces.length === 1 ? 1 : 1 / Math.max(candidates[0]?.score ?? 1, Number.EPSILON);
      return { ...space, candidates, scale };
    });
    const candidates = found
      .flatMap((one) => one.candidates.map(({ n, score }) => ({ n, score: score * one.scale })))
      .toSorted((a, b) => b.score - a.score)
      .slice(0, CANDIDATES);
    const cosine = (n: number): number | undefined => {
      for (const { table, vector, scale } of found) {
        const score = table.score(n, vector);
        if (score !== undefined) return score * scale;
      }
      return undefined;
    };
    return { candidates, cosine };
  }

  #nearest({ table, vector }: Space, query: SearchQuery, meant: Condition): Candidate[] {
    const narrow =
      query.kinds !== undefined ||
      query.filter !== undefined ||
      query.ranges !== undefined ||
      query.moment.asOf !== undefined ||
      query.moment.validAt !== undefined;
    if (narrow) {
      const allowed = this.#all(meant);
      return table.nearest(vector, CANDIDATES, (n) => allowed.has(n));
    }
    const hidden = this.#hidden(query.moment);
    return table.nearest(vector, CANDIDATES, (n) => !hidden.has(n));
  }

  #newest(k: number, meant: Condition): Fused[] {
    return this.#sql
      .exec<Fused>(
        `SELECT n, 0 AS score FROM documents WHERE ${meant.sql} ORDER BY created_at DESC, n DESC LIMIT ?`,
        ...meant.bindings,
        k,
      )
      .toArray();
  }

  /** All documents that are meant. */
  #all(meant: Condition): Set<number> {
    const rows = this.#sql.exec<{ n: number }>(
      `SELECT n FROM documents WHERE ${meant.sql}`,
      ...meant.bindings,
    );
    return new Set([...rows].map(({ n }) => n));
  }

  /** Versions that are not to be found now: a few of all, and the index `memories_guarded` has them. */
  #hidden(moment: Moment): Set<number> {
    const { sql, bindings } = compiled(visibleAt(moment));
    const rows = this.#sql.exec<{ n: number }>(
      `SELECT version AS n FROM memories INDEXED BY memories_guarded
       WHERE ${GUARDED} AND NOT (${sql} AND status = 'active')`,
      ...bindings,
    );
    return new Set(Array.from(rows, ({ n }) => n));
  }

  #document(n: number): Document | null {
    const [row] = this.#sql
      .exec<Omit<Document, "createdAt"> & { created_at: number }>(
        "SELECT n, kind, text, record, created_at FROM documents WHERE n = ?",
        n,
      )
      .toArray();
    if (row === undefined) return null;
    const { created_at: createdAt, ...rest } = row;
    return { ...rest, createdAt };
  }
}

const none = () => undefined;

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
    conditions.push(
      "EXISTS (SELECT 1 FROM json_each(?) AS range WHERE n BETWEEN range.value ->> 0 AND range.value ->> 1)",
    );
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

function compiled(condition: SQL | undefined): Condition {
  if (condition === undefined) return { sql: "TRUE", bindings: [] };
  const { sql, params } = dialect.sqlToQuery(condition);
  // The conditions bind nothing but text and numbers.
  return { sql, bindings: params as (string | number)[] };
}
