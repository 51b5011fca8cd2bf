import type { Embedder, TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { embedOne } from "../../../src/platform/embeddings/embed.ts";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { namedTime, type NamedTime } from "../../../src/domain/ranking/named-time.ts";
import { asksForPast } from "../../../src/domain/ranking/question.ts";
import { EARLIEST } from "../../../src/domain/ranking/time-span.ts";
import { type Arm, type Hit, recallKind } from "../../../src/domain/schema/recall.ts";
import type { VectorIndex } from "../../../src/platform/vectors/vector-index.ts";
import type { AlarmScheduler } from "../../storage/alarm-scheduler.ts";
import { hitsOf } from "./hits.ts";
import { NOT_QUERIED, queryVectorize, type VectorizeAnswer } from "../vectorize/vectorize-query.ts";
import { CandidateFilter, type FilteredTables, type FilterRequest } from "./candidate-filter.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { VectorSync } from "../vectorize/vector-sync.ts";
import { isMessage } from "../core/position.ts";
import type { HybridSearch } from "./hybrid-search.ts";
import type { EmbeddingTarget, SearchIndex } from "../search-index/search-index.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import type { EmbeddedQuery } from "../search-index/vector-store.ts";
import type { Recall, Recalled } from "../../../src/contract/user-memory.ts";

type RecallDependencies = {
  index: SearchIndex;
  search: HybridSearch;
  table: MemoryTable;
  memorySource: Pick<MemoryDocuments, "supersededBy">;
  vectors: Pick<VectorSync, "outbox" | "copiesMessages">;
  messages: ThreadMessages;
  tables: FilteredTables;
  /** Null: this deployment has no Vectorize. */
  vectorize: VectorIndex | null;
  lexicon: () => Promise<Lexicon | null>;
  /** Null while nothing can be embedded. */
  target: () => EmbeddingTarget | null;
  formerEmbedders: readonly Embedder[];
  log: Pick<RecallLog, "note">;
  alarms: AlarmScheduler;
  now: () => number;
};

/** Messages shown on each side of a hit, unless the caller gives a number. */
const WINDOW = 1;
/** The default time that a recall waits for Vectorize. */
const DEADLINE_MS = 300;
/** Vectors compared at most that are neither cached nor confirmed by Vectorize; each costs a read. */
const UNCONFIRMED = 2_000;

/** Answers a recall from the object's index, and from Vectorize where the cache does not hold all vectors. */
export class RecallService {
  readonly #deps: RecallDependencies;

  constructor(deps: RecallDependencies) {
    this.#deps = deps;
  }

  async recall({ window = WINDOW, embeddedMs = 0, ...request }: Recall): Promise<Result<Recalled>> {
    const { index, search, messages, alarms, now } = this.#deps;
    const { threadId, queryVector, asOf } = request;
    const ranges = threadId === undefined ? undefined : messages.rangesOf(threadId);
    if (ranges === null)
      return fail("not_found", {
        details: [{ path: "body.threadId", message: "is no thread of this user" }],
      });
    const { model } = queryVector;
    const target = this.#deps.target();
    // A Worker of another version may query with another model: only this object's own model counts.
    if (target?.model === model && index.enqueue(target)) alarms.scheduleBy(now());
    const query = { ...request, ...this.#times(request), ...(ranges && { ranges }) };
    const began = now();
    const querying = this.#queryVectorize(query);
    const former = await this.#formerVectors(query.query, model);
    const lexicon = await this.#deps.lexicon();
    const embedded = now();
    const nearest = await querying;
    // Documents that came since the last alarm get their word pieces now.
    if (lexicon !== null && index.cut(lexicon)) alarms.scheduleBy(now());
    const searching = now();
    const filter = new CandidateFilter(this.#deps.tables, query);
    // One pass loads the vectors and counts the word pieces.
    if (isEmbedded(queryVector) && filter.few === null) index.vectors.searched(queryVector);
    const freshness = index.freshness();
    const { ranked, arms, ...judged } = search.search(
      { ...query, queryVectors: [queryVector, ...former] },
      {
        filter,
        lexicon,
        size: freshness.indexed,
        uncached: () => this.#uncached(queryVector, nearest, filter),
      },
    );
    const ms = now() - searching;
    const vectorMs = ms + embeddedMs + embedded - began;
    const { numbers, ...vectorize } = nearest;
    const sources = { ...this.#deps, documents: index.documents };
    const hits = hitsOf(sources, ranked, { threadId, asOf, window });
    const recallId = this.#logged(request, hits, judged.isAnswerable);
    return ok({
      ...(recallId !== undefined && { recallId }),
      hits,
      arms: [
        ...arms.map((arm): Arm => ({ ...arm, ms: arm.name === "vector" ? vectorMs : ms })),
        { name: "vectorize", candidates: numbers.length, ...vectorize },
      ],
      freshness,
      ...judged,
    });
  }

  /**
   * The times that the query names, and the moment that it asks about: a named time lets what was true then match, up to now, and
   * a question about the past all that was ever true; `asOf` and `validAt` of the caller come first.
   */
  #times({ query, asOf, validAt, timeMode, referenceDate, timeZone }: Recall): {
    time: NamedTime | null;
    moment: FilterRequest["moment"];
  } {
    const now = this.#deps.table.clock.latest(this.#deps.now());
    const time =
      timeMode === "off" ? null : namedTime(query, { referenceDate: referenceDate ?? now, timeZone });
    if ((asOf ?? validAt) !== undefined) return { time, moment: { now, asOf, validAt } };
    if (time === null) {
      const isPast = timeMode !== "off" && asksForPast(query);
      return { time, moment: { now, validIn: isPast ? [{ from: EARLIEST, to: now + 1 }] : undefined } };
    }
    const past = time.spans.filter(({ from }) => from <= now);
    const validIn = past.map(({ from, to }) => ({ from, to: Math.min(to, now + 1) }));
    return { time, moment: { now, validIn } };
  }

  /** Notes the memories that the caller is to show. Returns the id of the recall. */
  #logged({ owner, query, shown }: Recall, hits: readonly Hit[], isAnswerable: boolean): string | undefined {
    if (shown === undefined || (shown.abstains && !isAnswerable)) return undefined;
    const memories = hits
      .filter(({ score }) => score >= shown.minScore)
      .slice(0, shown.k)
      .flatMap(({ id, version }) => (version === undefined ? [] : [{ id, version }]));
    return this.#deps.log.note(owner, { memories, injected: false, query });
  }

  /** Asks Vectorize only for the kinds that the cache does not hold in full. */
  async #queryVectorize(
    query: Pick<Recall, "owner" | "queryVector" | "deadlineMs"> & FilterRequest,
  ): Promise<VectorizeAnswer> {
    const { vectorize, vectors, index, tables } = this.#deps;
    const { queryVector: embedded } = query;
    if (vectorize === null || !isEmbedded(embedded)) return NOT_QUERIED;
    const filter = new CandidateFilter(tables, query);
    if (filter.few !== null) return NOT_QUERIED;
    const missing = index.vectors.missing(embedded);
    const memories = filter.kinds.memories && missing.memories;
    const messages = filter.kinds.messages && missing.messages && vectors.copiesMessages;
    if (!memories && !messages) return NOT_QUERIED;
    const kinds = new Set(query.kinds ?? recallKind.options);
    const [scope, ...otherScopes] = query.filter?.scope ?? [];
    return queryVectorize(vectorize, embedded, {
      owner: query.owner,
      kinds: [...kinds].filter((kind) => (kind === "message" ? messages : memories)),
      ...(scope !== undefined && otherScopes.length === 0 && { scope }),
      withinMs: query.deadlineMs ?? DEADLINE_MS,
      now: this.#deps.now,
    });
  }

  /** Matching documents that are not cached: those that Vectorize named, and those that it may not have yet. */
  #uncached(
    queryVector: TextEmbedding,
    nearest: VectorizeAnswer,
    filter: CandidateFilter,
  ): readonly number[] {
    const { vectorize, vectors, index } = this.#deps;
    if (vectorize === null || filter.few !== null) return [];
    const missing = index.vectors.missing(queryVector);
    if (!(missing.memories || missing.messages)) return [];
    const searched = index.vectors.searched(queryVector);
    const unconfirmed: number[] = [];
    for (const n of vectors.outbox.unconfirmed(queryVector.model)) {
      if (unconfirmed.length === UNCONFIRMED) break;
      if (filter.kinds[isMessage(n) ? "messages" : "memories"] && !searched.has(n)) unconfirmed.push(n);
    }
    return filter.matching([...nearest.numbers, ...unconfirmed]);
  }

  /** The query's vectors of former models that documents still have vectors of. */
  async #formerVectors(query: string, model: string): Promise<TextEmbedding[]> {
    const used = this.#deps.index.vectors.models();
    const embedders = this.#deps.formerEmbedders.filter(
      (embedder) => embedder.model !== model && used.has(embedder.model),
    );
    const vectors = await Promise.all(embedders.map((embedder) => embedOne(embedder, query, "query")));
    return vectors.filter(({ vector }) => vector !== "failed");
  }
}

const isEmbedded = (query: TextEmbedding): query is EmbeddedQuery =>
  query.vector !== null && query.vector !== "failed";
