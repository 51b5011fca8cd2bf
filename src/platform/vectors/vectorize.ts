import { withDeadline } from "../deadline.ts";
import { byteLength } from "../../domain/limits.ts";
import type { VectorHit, VectorIndex, VectorQuery, VectorRecord } from "./vector-index.ts";
import { hash16 } from "../../domain/hash.ts";

/**
 * The limits of Vectorize. Sizes are bytes. From developers.cloudflare.com/vectorize/platform/limits, but for
 * deletes and gets: these two it only tells in its refusals ("40007 too many ids in payload; max id count is …").
 */
const limits = {
  upsert: 1_000,
  deletes: 100,
  gets: 20,
  /** Without values and metadata in the answer; with them, 50 (20 in the documents' older editions). */
  topK: 100,
  id: 64,
  namespace: 64,
  /** Bytes of a string that a metadata index holds. The limit of all metadata, 10 KiB, cannot be reached. */
  indexedString: 64,
} as const;

/**
 * The reason why Vectorize always refuses this record, or null. Does not check dimensions: only the index knows them.
 */
export function refusal({ id, namespace, values }: VectorRecord): string | null {
  if (id === "" || byteLength(id) > limits.id) return "an id is 1 to 64 bytes";
  if (namespace === "" || byteLength(namespace) > limits.namespace) return "a namespace is 1 to 64 bytes";
  if (!values.every(Number.isFinite)) return "every number of a vector is finite";
  return null;
}

/**
 * The part of the `VECTORIZE` binding that Cairn uses. It fits the type of `wrangler types`, which is that of version
 * 1.
 */
export type VectorizeBinding = Pick<Vectorize, "query" | "getByIds"> & {
  describe: () => Promise<VectorizeIndexInfo | VectorizeIndexDetails>;
  upsert: (vectors: VectorizeVector[]) => Promise<unknown>;
  deleteByIds: (ids: string[]) => Promise<unknown>;
};

/** Milliseconds of one call. A query has the deadline of its recall. */
const WITHIN = { write: 10_000, read: 5_000 };

/** Cloudflare Vectorize (V2). It accepts a write before it applies it. */
export class VectorizeIndex implements VectorIndex {
  readonly #binding: VectorizeBinding;
  readonly #within: typeof WITHIN;

  constructor(binding: VectorizeBinding, within = WITHIN) {
    this.#binding = binding;
    this.#within = within;
  }

  async upsert(records: readonly VectorRecord[]): Promise<void> {
    const vectors = await Promise.all(records.map(vectorOf));
    for (const batch of batches(vectors, limits.upsert))
      await withDeadline(this.#binding.upsert(batch), this.#within.write);
  }

  async deleteByIds(ids: readonly string[]): Promise<void> {
    for (const batch of batches(ids, limits.deletes))
      await withDeadline(this.#binding.deleteByIds(batch), this.#within.write);
  }

  async present(ids: readonly string[]): Promise<Set<string>> {
    const present = new Set<string>();
    for (const batch of batches([...new Set(ids)], limits.gets))
      for (const { id } of await withDeadline(this.#binding.getByIds(batch), this.#within.read))
        present.add(id);
    return present;
  }

  async query(
    vector: Float32Array,
    { namespace, filter, topK, withinMs }: VectorQuery,
  ): Promise<VectorHit[]> {
    if (!Number.isInteger(topK) || topK < 1 || topK > limits.topK)
      throw new Error(`topK is 1 to ${limits.topK}`);
    if (filter.kinds?.length === 0) return [];
    const options = { topK, ...(namespace !== undefined && { namespace }), filter: await filterOf(filter) };
    const { matches } = await withDeadline(this.#binding.query(vector, options), withinMs);
    const best = new Map<string, number>();
    for (const { id, score } of matches) best.set(id, Math.max(score, best.get(id) ?? -Infinity));
    return Array.from(best, ([id, score]) => ({ id, score })).toSorted((a, b) => b.score - a.score);
  }

  async check(dimensions: number): Promise<string | null> {
    let index: { dimensions: number };
    try {
      const described = await withDeadline(this.#binding.describe(), this.#within.read);
      // The types describe version 1; the index has version 2.
      index = described as VectorizeIndexInfo;
    } catch (error) {
      console.error({ message: "Vectorize does not answer", error: String(error) });
      return "Vectorize does not answer: see that the index that VECTORIZE names exists (`npx wrangler vectorize list`)";
    }
    if (index.dimensions === dimensions) return null;
    return (
      `the Vectorize index has ${index.dimensions} dimensions, the embedder ${dimensions}: create another one ` +
      `(\`npx wrangler vectorize create NAME --dimensions=${dimensions} --metric=cosine\`, then its metadata indexes, ` +
      "docs/guides/deploy.md) and name it in the deployment's configuration"
    );
  }
}

async function vectorOf(record: VectorRecord): Promise<VectorizeVector> {
  const refused = refusal(record);
  if (refused !== null) throw new Error(`Vectorize takes no such vector (${record.id}): ${refused}`);
  const { id, namespace, values, metadata } = record;
  return { id, namespace, values, metadata: await fieldsOf(metadata) };
}

async function filterOf({ kinds, ...equal }: VectorQuery["filter"]): Promise<VectorizeVectorMetadataFilter> {
  const fields = await fieldsOf(equal);
  if (kinds === undefined) return fields;
  return { ...fields, kind: { $in: await Promise.all(kinds.map(indexable)) } };
}

async function fieldsOf(texts: Record<string, string | undefined>): Promise<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined) fields[name] = await indexable(text);
  return fields;
}

/** An index holds 64 bytes of a string. The hash of a longer one stands for the whole. */
const indexable = async (text: string): Promise<string> =>
  byteLength(text) <= limits.indexedString ? text : hash16(`cairn:indexed:${text}`);

function* batches<T>(all: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}
