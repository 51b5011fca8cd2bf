import type { Embedder, QueryVector } from "../../../src/platform/embeddings/embedder.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { embedOne } from "../../../src/platform/embeddings/embed.ts";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import { type Arm, type Hit, type RecallKind, recallKind } from "../../../src/domain/schema/recall.ts";
import type { VectorIndex } from "../../../src/platform/vectors/vector-index.ts";
import type { WakeUp } from "../../storage/wake-up.ts";
import { BESIDE, hitOf } from "./hit.ts";
import { type Near, nearIn, NOT_ASKED } from "../vectorize/large-index.ts";
import { Meant, type Narrowing, type Searched } from "./meant.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { MemoryVectors } from "../vectorize/memory-vectors.ts";
import { FIRST_POSITION } from "../core/position.ts";
import { type Found, type Search, type SearchQuery } from "./search.ts";
import type { Meaning, SearchIndex } from "../search-index/search-index.ts";
import type { ThreadMessages } from "../threads/thread-messages.ts";
import { dot, type Space } from "../search-index/vector-store.ts";
import type { Numbered, Recall, Recalled } from "../contract.ts";

type Parts = {
  index: SearchIndex;
  search: Search;
  table: MemoryTable;
  vectors: MemoryVectors;
  messages: ThreadMessages;
  searched: Searched;
  /** Null: this deployment has no large index. */
  large: VectorIndex | null;
  /** The user's own id; null for the memory of nobody. */
  ownerId: () => string | null;
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

  async recall({ threadId, window = WINDOW, embeddedMs = 0, ...query }: Recall): Promise<Result<Recalled>> {
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
    const asked = {
      ...query,
      moment: this.#moment(query),
      ...(ranges && { ranges }),
    };
    const began = now();
    const asking = this.#near(asked);
    const former = await this.#formerVectors(query.query, model);
    const lexicon = await this.#parts.lexicon();
    const embedded = now();
    const near = await asking;
    // What came since the last alarm is compared word by word too.
    if (lexicon !== null && index.cut(lexicon)) wakeUp.by(now());
    const unshown = (positions: readonly number[]) => messages.unshown(positions, threadId);
    const besides = (positions: readonly number[]) => messages.besides(positions, threadId);
    const size = index.freshness().indexed;
    const far = (meant: Meant) => this.#far(queryVector, near, meant);
    const searching = now();
    const queryVectors = [queryVector, ...former];
    const { found, arms, full } = search.search(
      { ...asked, queryVectors },
      { lexicon, size, unshown, besides, far },
    );
    const searched = now() - searching;
    const all: Arm[] = [
      ...arms.map((arm) => ({
        ...arm,
        ms: searched + (arm.name === "vector" ? embeddedMs + embedded - began : 0),
      })),
      largeArm(near),
    ];
    return ok({
      hits: this.#hits(found, { threadId, asOf, window }),
      arms: all,
      freshness: index.freshness(),
      full,
    });
  }

  /** Those of some documents that the query means, by how near they are. `score` is the cosine. */
  numbered({ numbers, queryVector, ...query }: Numbered): Hit[] {
    const { index, messages, searched, ownerId } = this.#parts;
    const { model, vector } = queryVector;
    if (vector === null || vector === "failed") return [];
    const meant = new Meant(searched, { ...query, moment: this.#moment(query) }).among(numbers);
    const unshown = messages.unshown([...meant].filter((n) => n >= FIRST_POSITION));
    const shown = [...meant].filter((n) => !unshown.has(n));
    // Read one by one: to load all that the user has, for a few, would fill the isolate when many users are asked.
    const vectors = new Map(index.vectors.read(model, shown).map(({ n, values }) => [n, values]));
    const found = index.documents.read(shown).flatMap((document): Found[] => {
      const values = vectors.get(document.n);
      if (values === undefined) return [];
      return [{ n: document.n, score: Math.min(1, Math.max(0, dot(values, vector))), document }];
    });
    const owner = ownerId();
    const hits = this.#hits(found, { asOf: query.asOf, window: 0 });
    return owner === null ? hits : hits.map((hit) => ({ ...hit, userId: owner }));
  }

  /** What the large index has near the query: asked only for what is not in memory, and which it can have. */
  async #near(query: Pick<Recall, "owner" | "queryVector" | "deadlineMs"> & Narrowing): Promise<Near> {
    const { large, vectors, searched } = this.#parts;
    const { model, dimensions, vector } = query.queryVector;
    if (large === null || vector === null || vector === "failed") return NOT_ASKED;
    const space: Space = { model, dimensions, vector };
    const missing = vectors.store.missing(space);
    const { kinds } = new Meant(searched, query);
    const memories = kinds.memories && missing.memories;
    const said = kinds.messages && missing.messages && vectors.copiesMessages;
    if (!memories && !said) return NOT_ASKED;
    const [scope, ...otherScopes] = query.filter?.scope ?? [];
    return nearIn(large, space, {
      owner: query.owner,
      kinds: kindsOf(query.kinds, { memories, said }),
      ...(scope !== undefined && otherScopes.length === 0 && { scope }),
      withinMs: query.deadlineMs ?? DEADLINE_MS,
      now: this.#parts.now,
    });
  }

  /** What the large index named, and what it may miss: of what is meant, and is not in memory. */
  #far({ model, dimensions }: QueryVector, near: Near, meant: Meant): number[] {
    const { large, vectors } = this.#parts;
    const missing = vectors.store.missing({ model, dimensions });
    if (large === null || !(missing.memories || missing.messages)) return [];
    const searched = vectors.store.searched({ model, dimensions });
    const some = [...near.numbers];
    let unconfirmed = 0;
    for (const n of vectors.unconfirmed(model)) {
      if (unconfirmed === UNCONFIRMED) break;
      if (searched.has(n) || !(n < FIRST_POSITION ? meant.kinds.memories : meant.kinds.messages)) continue;
      unconfirmed = some.push(n) - near.numbers.length;
    }
    return [...meant.among(some)];
  }

  #moment({ asOf, validAt }: Pick<Recall, "asOf" | "validAt">): SearchQuery["moment"] {
    // The clock of this object may have been set back since the last write.
    const now = Math.max(this.#parts.now(), this.#parts.table.lastWrite());
    return { now, ...(asOf !== undefined && { asOf }), ...(validAt !== undefined && { validAt }) };
  }

  /** The query as the models before this one see it, while documents have vectors of theirs. */
  async #formerVectors(query: string, model: string): Promise<QueryVector[]> {
    const used = this.#parts.index.vectors.rows.models().filter((other) => other !== model);
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
    const neighbours = index.documents.read([...around.values()].flat(), BESIDE + 1);
    const byNumber = new Map(
      neighbours
        .filter(({ createdAt }) => asOf === undefined || createdAt <= asOf)
        .map((document) => [document.n, document]),
    );
    return found.flatMap((one) => {
      const beside = (around.get(one.n) ?? []).flatMap((n) => byNumber.get(n) ?? []);
      return hitOf(one, { row: rows.get(one.n), threadId: threads.get(one.n), beside }) ?? [];
    });
  }
}

const largeArm = ({ status, capped, numbers, ms }: Near): Arm => ({
  name: "vectorize",
  status,
  candidates: numbers.length,
  capped,
  ms,
});

/** The kinds to ask the large index for. */
function kindsOf(
  kinds: readonly RecallKind[] = recallKind.options,
  { memories, said }: { memories: boolean; said: boolean },
): RecallKind[] {
  return [...new Set(kinds)].filter((kind) => (kind === "message" ? said : memories));
}
