import { startOfTag } from "../../../../src/domain/conversation/stored-text.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { Hit, Memory } from "../../../client/src/shapes.ts";
import { requireMemory } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { limited, limitMethods, type TimeLimit } from "../limits/time-limit.ts";
import { collect } from "./collect.ts";
import type { MemoryEntry, UserMemory } from "./types.ts";
import { filterTags, factWithinLimits } from "./fact-within-limits.ts";
import { isUnknown } from "./unknown-id.ts";
import { hasWords, sharesWord } from "./words.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";

export type CairnUserMemoryOptions = TimeLimit & {
  memory: Cairn;
  /** The least score, 0 to 1, of a recalled fact that shares no word with the query; 0.2 unless set. */
  minScore?: number;
  /** `exact` treats the same words as the same fact; `none`, unless set, as a new one, like the SDK's own stores. */
  dedupe?: "exact" | "none";
  /**
   * Receives each fact that was stored with changes, as it was given. The client's `onLaterError` unless set, and if
   * this throws.
   */
  onError?: (error: unknown, given: GivenFact) => void;
};

const OPTIONS: OptionNames<CairnUserMemoryOptions> = {
  memory: true,
  minScore: true,
  dedupe: true,
  onError: true,
  timeoutMs: true,
};

const METHODS = ["remember", "recall", "forget", "list", "forgetAll"] as const;

/** The arguments of `remember`. */
export type GivenFact = { userId: string; fact: string; tags?: readonly string[] };

type Limits = CallOptions & {
  /** Unlimited if 0, negative or absent. */
  limit?: number | undefined;
  /** Only facts with all of these tags. */
  tags?: readonly string[] | undefined;
};

/** The start of the tags that the SDK puts recalled facts between. */
const TAG = startOfTag("user-memory");
const PAGE = 1000;
/** Limits of a recall: hits, and bytes of the query. */
const MOST_HITS = 100;
const QUERY_BYTES = 256 * 1024;
/** Extra hits to request, since merely similar ones are dropped. */
const SPARE = 20;

/** GemStack's UserMemory over Cairn's facts, as `cairnUserMemory` creates it. */
export class CairnUserMemory implements UserMemory {
  readonly #memory: Cairn;
  readonly #minScore: number;
  readonly #dedupe: "exact" | "none";
  readonly #onError: (error: unknown, given: GivenFact) => void;

  constructor(options: CairnUserMemoryOptions) {
    requireMemory("cairnUserMemory", options, OPTIONS);
    const { memory, minScore = 0.2, dedupe = "none", onError = thrown } = options;
    this.#memory = limited(memory, options);
    this.#minScore = minScore;
    this.#dedupe = dedupe;
    this.#onError = onError;
    const copy = (own: Cairn) => new CairnUserMemory({ ...options, memory: own });
    limitMethods(this, METHODS, options, copy, CairnUserMemory.prototype);
  }

  /**
   * Resolves once the fact is stored and can be found. The SDK loses the rest of a turn after one refusal, so longer
   * facts are cut and `onError` is called. Limits: 32 KiB of UTF-8, 32 tags of 64 bytes. A blank fact is not stored;
   * its entry has the id "".
   */
  async remember(
    userId: string,
    fact: string,
    { tags: given, score, ...options }: CallOptions & { tags?: readonly string[]; score?: number } = {},
  ): Promise<MemoryEntry> {
    const { text, tags, changes } = factWithinLimits(fact, given);
    if (changes.length > 0) this.#tell(changes, { userId, fact, ...(given && { tags: given }) });
    if (text.trim() === "") return told({ id: "", userId, fact, createdAt: Date.now(), updatedAt: 0 });
    const body = { text, score, dedupe: this.#dedupe, ...(tags && { tags }) };
    // The SDK calls it with what a model found.
    const by = { trust: "model", adapter: "gemstack" } as const;
    return entryOf(await this.#memory.memories.remember(userId, body, { ...options, ...by }));
  }

  /**
   * The facts that share a word with the query, in text or tag, and similar ones; best first. A query without a letter
   * or digit returns all facts with the tags. The SDK puts them between tags in a prompt: a fact cannot close these.
   */
  async recall(userId: string, query: string, limits: Limits = {}): Promise<MemoryEntry[]> {
    const found = await this.#recalled(userId, query, limits);
    return found.map((entry) => ({ ...entry, fact: entry.fact.replaceAll(TAG, "&lt;") }));
  }

  async #recalled(
    userId: string,
    query: string,
    { limit, tags, ...options }: Limits,
  ): Promise<MemoryEntry[]> {
    if (!hasWords(query)) return this.list(userId, { limit, tags, ...options });
    const most = mostOf(limit);
    const asked = truncateUtf8(query.trim(), QUERY_BYTES);
    const k = Math.min(MOST_HITS, most + SPARE);
    const body = {
      query: asked,
      k,
      kinds: ["fact" as const],
      // An entry has no end: a superseded fact would look current.
      timeMode: "off" as const,
      ...(tags && { tags: filterTags(tags) }),
    };
    const { hits } = await this.#memory.recall(userId, body, options);
    const found = hits.filter((hit) => this.#answers(hit)).map((hit) => entryOfHit(userId, hit));
    if (most <= MOST_HITS || hits.length < MOST_HITS) return found.slice(0, most);
    const ids = new Set(found.map(({ id }) => id));
    const others = (await this.list(userId, { tags, ...options })).filter(
      (entry) => !ids.has(entry.id) && sharesWord(asked, [entry.fact, ...(entry.tags ?? [])]),
    );
    return [...found, ...others].slice(0, most);
  }

  /** Deletes the fact permanently. No error if there is none, or if another user owns it, who keeps it. */
  async forget(userId: string, factId: string, options: CallOptions = {}): Promise<void> {
    try {
      await this.#memory.memories.forget(userId, factId, options);
    } catch (error) {
      if (!isUnknown(error)) throw error;
    }
  }

  /** Facts in the order of their creation. */
  async list(userId: string, { limit, tags, ...options }: Limits = {}): Promise<MemoryEntry[]> {
    const most = mostOf(limit);
    const facts = this.#memory.memories.all(
      userId,
      {
        kind: ["fact"],
        tag: filterTags(tags ?? []),
        sort: "createdAt",
        order: "asc",
        limit: Math.min(most, PAGE),
      },
      options,
    );
    return (await collect(facts, most)).map(entryOf);
  }

  /** Erases all memories of this user, of every kind, with their vectors. */
  forgetAll(userId: string, options: CallOptions = {}): Promise<void> {
    return this.#memory.memories.forgetAll(userId, options);
  }

  #tell(changes: readonly string[], given: GivenFact): void {
    const error = new RangeError(`remember: ${changes.join("; ")}`);
    this.#memory.later(async () => this.#onError(error, given));
  }

  /** Drops weak hits: vector search always returns some, however unrelated. */
  #answers({ why, score }: Hit): boolean {
    return why.lexical !== undefined || why.key === true || score >= this.#minScore;
  }
}

/**
 * The user memory of GemStack's ai-sdk in Cairn: facts found by words, tags and meaning.
 *
 * @example
 * setUserMemory(cairnUserMemory({ memory }));
 */
export const cairnUserMemory = (options: CairnUserMemoryOptions): CairnUserMemory =>
  new CairnUserMemory(options);

const thrown = (error: unknown): never => {
  throw error;
};

const mostOf = (limit: number | undefined): number =>
  limit !== undefined && limit > 0 ? Math.ceil(limit) : Infinity;

type Told = Omit<MemoryEntry, "createdAt" | "updatedAt"> & { createdAt: number; updatedAt: number };

const entryOf = ({ text, ...memory }: Memory): MemoryEntry => told({ ...memory, fact: text });

/** A hit's `score` belongs to the recall; `ownScore` is the fact's own. */
const entryOfHit = (userId: string, { text, ownScore, updatedAt, ...hit }: Hit): MemoryEntry =>
  told({ ...hit, userId, fact: text, score: ownScore, updatedAt: updatedAt ?? hit.createdAt });

function told({ id, userId, fact, tags, score, createdAt, updatedAt }: Told): MemoryEntry {
  return {
    id,
    userId,
    fact,
    ...(tags !== undefined && { tags }),
    ...(score !== undefined && { score }),
    createdAt: new Date(createdAt),
    ...(updatedAt > createdAt && { updatedAt: new Date(updatedAt) }),
  };
}
