import type { Embedder, QueryVector } from "../../src/embeddings/embedder.ts";
import { fail, ok, type Result } from "../../src/errors.ts";
import type { UserHash } from "../../src/ids.ts";
import { embedOne } from "../../src/memory/embed.ts";
import type { Lexicon } from "../../src/memory/ranking/lexicon.ts";
import type { Arm, Hit, RecallAnswer } from "../../src/schema/recall.ts";
import type { VectorIndex } from "../../src/vectors/vector-index.ts";
import type { WakeUp } from "../wake-up.ts";
import { hitOf } from "./hit.ts";
import { type Near, nearIn, NOT_ASKED } from "./large-index.ts";
import { meantBy, type Narrowing } from "./meant.ts";
import type { MemoryTable } from "./memory-table.ts";
import type { MemoryVectors } from "./memory-vectors.ts";
import { FIRST_POSITION } from "./position.ts";
import { type Found, type Search, type SearchQuery } from "./search.ts";
import type { Meaning, SearchIndex } from "./search-index.ts";
import type { ThreadMessages } from "./thread-messages.ts";
import type { Space } from "./vector-store.ts";

/** A recall as the object is asked for it. `owner`: whose object this is. */
export type Recall = Omit<SearchQuery, "ranges" | "queryVectors" | "moment"> & {
  owner: UserHash;
  queryVector: QueryVector;
  /** How long the caller waited for the query's vector, in milliseconds. */
  embeddedMs?: number;
  threadId?: string;
  asOf?: number;
  validAt?: number;
  /** How many messages on each side a hit brings along. */
  window?: number;
  /** How long the large index may take, in milliseconds. */
  deadlineMs?: number;
};
/** Documents by their numbers, to be compared with a query. */
export type Numbered = Pick<Recall, "queryVector" | "kinds" | "filter" | "asOf" | "validAt"> & {
  numbers: readonly number[];
};

type Parts = {
  index: SearchIndex;
  search: Search;
  table: MemoryTable;
  vectors: MemoryVectors;
  messages: ThreadMessages;
  sql: SqlStorage;
  /** Null: this deployment has no large index. */
  large: VectorIndex | null;
  lexicon: () => Promise<Lexicon | null>;
  /** What documents are to have; null while nothing can be embedded. */
  meaning: () => Meaning | null;
  formerEmbedders: readonly Embedder[];
  wakeUp: WakeUp;
  now: () => number;
};

const WINDOW = 1;
/** How long a recall waits for the large index unless it says so. */
const DEADLINE_MS = 300;
/** Of what the large index has not confirmed and memory does not hold, so many are compared; each costs a read. */
const UNCONFIRMED = 2_000;

/** Finds what a user's object has, in its own index and, where memory does not hold all of that, in the large one. */
export class Recaller {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async recall({
    threadId,
    window = WINDOW,
    embeddedMs = 0,
    ...query
  }: Recall): Promise<Result<RecallAnswer>> {
    const { index, search, messages, wakeUp, now } = this.#parts;
    const ranges = threadId === undefined ? undefined : messages.rangesOf(threadId);
    if (ranges === null)
      return fail("not_found", {
        details: [{ path: "body.threadId", message: "is no thread of this user" }],
      });
    const { queryVector, asOf } = query;
    const { model } = queryVector;
    const meaning = this.#parts.meaning();
    // A Worker of another version may ask with another model: what this object embeds with is what counts.
    if (meaning?.model === model && index.requeue(meaning)) wakeUp.by(now());
    const began = now();
    const asking = this.#near(query);
    const former = await this.#formerVectors(query.query, model);
    const lexicon = await this.#parts.lexicon();
    const embedded = now();
    const near = await asking;
    const answered = now();
    // What came since the last alarm is compared word by word too.
    if (lexicon !== null && index.pieces.cut(lexicon)) wakeUp.by(now());
    const asked = {
      ...query,
      queryVectors: [queryVector, ...former],
      moment: this.#moment(query),
      ...(ranges && { ranges }),
    };
    const unshown = (positions: readonly number[]) => messages.unshown(positions, threadId);
    const size = index.freshness().indexed;
    const besides = near === null ? [] : [...near.numbers, ...this.#unconfirmed(queryVector)];
    const { found, arms } = search.search(asked, { lexicon, size, unshown, besides });
    const searched = now() - answered;
    const all: Arm[] = [
      ...arms.map((arm) => ({
        ...arm,
        ms: searched + (arm.name === "vector" ? embeddedMs + embedded - began : 0),
      })),
      largeArm(near ?? NOT_ASKED, answered - began),
    ];
    return ok({
      hits: this.#hits(found, { threadId, asOf, window }),
      arms: all,
      degraded: all.some(({ status }) => status === "failed" || status === "late"),
      freshness: index.freshness(),
    });
  }

  /** Those of some documents that the query means, by how near they are. `score` is the cosine. */
  numbered({ numbers, queryVector, ...query }: Numbered): Hit[] {
    const { vectors, index, messages, sql } = this.#parts;
    const { model, dimensions, vector } = queryVector;
    if (vector === null || vector === "failed") return [];
    const narrowing: Narrowing = { ...query, moment: this.#moment(query) };
    const meant = numbers.filter(meantBy(sql, narrowing).allows);
    const unshown = messages.unshown(meant.filter((n) => n >= FIRST_POSITION));
    const shown = meant.filter((n) => !unshown.has(n));
    const cosines = vectors.store.cosines({ model, dimensions, vector }, shown);
    const found = [...index.documents([...cosines.keys()])].map((document): Found => {
      const score = Math.min(1, Math.max(0, cosines.get(document.n) ?? 0));
      return { n: document.n, score, document };
    });
    return this.#hits(found, { asOf: query.asOf, window: 0 });
  }

  /** What the large index has near the query: asked only where memory does not hold all that could be near. */
  async #near({
    owner,
    queryVector,
    kinds,
    filter,
    deadlineMs = DEADLINE_MS,
  }: Omit<Recall, "window">): Promise<Near | null> {
    const { large, vectors } = this.#parts;
    const { model, dimensions, vector } = queryVector;
    if (large === null || vector === null || vector === "failed") return null;
    const space: Space = { model, dimensions, vector };
    if (!vectors.store.table(space).full) return null;
    const [scope, ...otherScopes] = filter?.scope ?? [];
    return nearIn(large, space, {
      owner,
      ...(kinds && { kinds }),
      ...(scope !== undefined && otherScopes.length === 0 && { scope }),
      withinMs: deadlineMs,
    });
  }

  #unconfirmed({ model, dimensions }: QueryVector): number[] {
    const { vectors } = this.#parts;
    const table = vectors.store.table({ model, dimensions });
    return vectors.unconfirmed(model, (n) => table.has(n)).slice(0, UNCONFIRMED);
  }

  #moment({ asOf, validAt }: Pick<Recall, "asOf" | "validAt">): SearchQuery["moment"] {
    // The clock of this object may have been set back since the last write.
    const now = Math.max(this.#parts.now(), this.#parts.table.lastWrite());
    return { now, ...(asOf !== undefined && { asOf }), ...(validAt !== undefined && { validAt }) };
  }

  /** The query as the models before this one see it, while documents have vectors of theirs. */
  async #formerVectors(query: string, model: string): Promise<QueryVector[]> {
    const used = this.#parts.index.vectors.models().filter((other) => other !== model);
    const embedders = this.#parts.formerEmbedders.filter((embedder) => used.includes(embedder.model));
    const vectors = await Promise.all(embedders.map((embedder) => embedOne(embedder, query, "query")));
    return vectors.filter(({ vector }) => vector !== "failed");
  }

  #hits(
    found: readonly Found[],
    { threadId, asOf, window }: { threadId?: string | undefined; asOf?: number | undefined; window: number },
  ): Hit[] {
    const { table, messages, index } = this.#parts;
    const numbers = found.map(({ n }) => n);
    const rows = new Map(
      table.numbered(numbers, asOf === undefined ? {} : { asOf }).map((row) => [row.version, row]),
    );
    const threads = new Map(
      numbers.flatMap((n) => {
        const id = n < FIRST_POSITION ? null : messages.threadOf(n, threadId);
        return id === null ? [] : [[n, id] as const];
      }),
    );
    const around = new Map(
      Array.from(threads, ([n, id]) => [n, window === 0 ? [] : messages.around(id, n, window)] as const),
    );
    const neighbours = index.documents([...around.values()].flat());
    const byNumber = new Map(neighbours.map((document) => [document.n, document]));
    return found.flatMap((one) => {
      const beside = (around.get(one.n) ?? []).flatMap((n) => byNumber.get(n) ?? []);
      return hitOf(one, { row: rows.get(one.n), threadId: threads.get(one.n), beside }) ?? [];
    });
  }
}

const largeArm = ({ status, capped, numbers }: Near, ms: number): Arm => ({
  name: "vectorize",
  status,
  candidates: numbers.length,
  capped,
  ms: status === "off" ? 0 : ms,
});
