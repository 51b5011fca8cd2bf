import {
  type IndexStats,
  MastraVector,
  type MastraEmbeddingModel,
  type QueryResult,
  type QueryVectorParams,
  type UpsertVectorParams,
} from "@mastra/core/vector";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { Hit } from "../../../client/src/shapes.ts";
import { truncateUtf8 } from "../bytes/truncate-utf8.ts";
import { slices } from "../calls/slices.ts";
import { limited, limitMethods, type TimeLimit } from "../limits/time-limit.ts";
import { requireUser } from "../options/require-options.ts";
import { unlessMissing } from "./conversations.ts";
import { messageOf } from "./stored-message.ts";
import { ThreadRecords } from "./thread-records.ts";

export type CairnSemanticRecallOptions = TimeLimit & {
  memory: Cairn;
  /** The user of `cairnStorage`. */
  user: string;
  /** The prefix of `cairnStorage`; `mastra/` unless set. */
  prefix?: string;
};

const OPTIONS: OptionNames<CairnSemanticRecallOptions> = {
  memory: true,
  user: true,
  prefix: true,
  timeoutMs: true,
};

/** The two parts of a Mastra `Memory` by which it recalls messages. They only work together. */
export type CairnSemanticRecall = { vector: MastraVector; embedder: MastraEmbeddingModel<string> };

/**
 * The vector store and the embedder of a Mastra `Memory`, over the messages of `cairnStorage`. Cairn has already indexed these, by
 * words and by meaning: nothing is embedded or stored a second time, and a deleted message is found no more. So the embedder's
 * "vector" is the text, which the store gives to Cairn's recall.
 *
 * @example
 * const storage = cairnStorage({ memory, user });
 * new Memory({ storage, ...cairnSemanticRecall({ memory, user }), options: { semanticRecall: true } });
 */
export function cairnSemanticRecall(options: CairnSemanticRecallOptions): CairnSemanticRecall {
  requireUser("cairnSemanticRecall", options, OPTIONS);
  return { vector: new CairnVector(options), embedder };
}

/** The first number of a text's vector: no embedding of a model has one so large. */
const MARK = 0xca1717;

const vectorOf = (text: string): number[] => [MARK, ...Array.from(text, (c) => c.codePointAt(0) ?? 0)];

function textOf([mark, ...codePoints]: readonly number[]): string {
  if (mark !== MARK)
    throw new TypeError(
      "cairnSemanticRecall: the vector is that of another embedder: use the one returned with it",
    );
  return codePoints.map((codePoint) => String.fromCodePoint(codePoint)).join("");
}

const embedder: MastraEmbeddingModel<string> = {
  specificationVersion: "v2",
  provider: "cairn",
  modelId: "text",
  maxEmbeddingsPerCall: undefined,
  supportsParallelCalls: true,
  doEmbed: async ({ values }) => ({ embeddings: values.map(vectorOf) }),
};

/** The longest query of a recall in bytes of UTF-8, and the most hits. */
const QUERY_BYTES = 256 * 1024;
const HITS = 100;
/** Hits for each wanted one: some belong to another resource, or are of another client. */
const SPARE = 5;

class CairnVector extends MastraVector {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #threads: ThreadRecords;

  constructor({ user, prefix = "mastra/", ...options }: CairnSemanticRecallOptions) {
    super({ id: "cairn" });
    const memory = limited(options.memory, options);
    this.#memory = memory;
    this.#user = user;
    this.#threads = new ThreadRecords({ memory, user, prefix });
    const copy = (own: Cairn) => new CairnVector({ ...options, user, prefix, memory: own });
    limitMethods(this, ["query"], options, copy, CairnVector.prototype);
  }

  /** The messages that answer the vector's text, best first, with Mastra's ids as metadata. */
  async query({ queryVector, topK = 10, filter }: QueryVectorParams): Promise<QueryResult[]> {
    if (queryVector === undefined)
      throw new TypeError("cairnSemanticRecall: `queryVector` is missing: messages are found by a text");
    const query = truncateUtf8(textOf(queryVector).trim(), QUERY_BYTES);
    const { thread_id, resource_id } = conditionsIn(filter);
    const record = thread_id === undefined ? undefined : await this.#threads.get(thread_id);
    if (query === "" || record === null || topK < 1) return [];
    const { hits } = await this.#memory.recall(this.#user, {
      query,
      kinds: ["message"],
      k: Math.min(HITS, topK * SPARE),
      window: 0,
      ...(record && { threadId: record.cairnThread }),
    });
    const results = new Map<string, QueryResult>();
    for (const some of slices(hits, topK))
      if (results.size < topK)
        for (const result of await Promise.all(some.map((hit) => this.#resultOf(hit)))) {
          const isOfResource = resource_id === undefined || result?.metadata?.["resource_id"] === resource_id;
          if (result !== undefined && isOfResource && !results.has(result.id)) results.set(result.id, result);
        }
    return [...results.values()].slice(0, topK);
  }

  /** The message of a hit; undefined if it is not Mastra's, or was just deleted. */
  async #resultOf({ threadId, seq, score, text }: Hit): Promise<QueryResult | undefined> {
    if (threadId === undefined || seq === undefined) return undefined;
    const query = { order: "oldest", after: seq - 1, limit: 1 } as const;
    const page = await this.#memory.threads.read(threadId, query).catch(unlessMissing);
    const stored = page?.items[0];
    if (stored?.seq !== seq) return undefined;
    const message = messageOf(stored, { id: "" });
    if (message === undefined || !message.threadId) return undefined;
    const { id, threadId: thread_id, resourceId: resource_id, role } = message;
    return { id, score, metadata: { message_id: id, thread_id, resource_id, role, content: text } };
  }

  /** Stores nothing: the messages are in Cairn before Mastra embeds them. */
  async upsert({ indexName, vectors, ids, metadata = [] }: UpsertVectorParams): Promise<string[]> {
    const own = metadata.map((one) =>
      typeof one["message_id"] === "string" ? one["message_id"] : undefined,
    );
    if (own.length !== vectors.length || own.includes(undefined))
      throw new TypeError(
        `cairnSemanticRecall: the index \`${indexName}\` takes messages only: give another vector store for the rest`,
      );
    return ids ?? own.flatMap((id) => id ?? []);
  }

  /** An index is a name: all of them hold the messages. */
  async createIndex(): Promise<void> {}
  async deleteIndex(): Promise<void> {}
  async listIndexes(): Promise<string[]> {
    return [];
  }
  async describeIndex(): Promise<IndexStats> {
    return { dimension: 0, count: 0, metric: "cosine" };
  }

  /** Nothing is to be changed or deleted: the storage changes and deletes the messages. */
  async updateVector(): Promise<void> {}
  async deleteVector(): Promise<void> {}
  async deleteVectors(): Promise<void> {}
}

type Conditions = { thread_id?: string; resource_id?: string };

/** The conditions of a filter, which Mastra makes of a thread or a resource. */
function conditionsIn(filter: unknown, found: Conditions = {}): Conditions {
  for (const [name, value] of Object.entries(filter ?? {})) {
    if (name === "$and" && Array.isArray(value)) for (const one of value) conditionsIn(one, found);
    else if ((name === "thread_id" || name === "resource_id") && typeof value === "string")
      found[name] = value;
    else
      throw new TypeError(
        `cairnSemanticRecall: the filter \`${name}\` is not supported: only \`thread_id\` and \`resource_id\` are`,
      );
  }
  return found;
}
