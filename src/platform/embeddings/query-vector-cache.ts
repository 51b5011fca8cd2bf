import { BoundedCache } from "../../domain/bounded-cache.ts";
import type { Embedder, EmbedOptions, Vector } from "./embedder.ts";

const QUERIES = 500;
/** Bytes of the isolate's 128 MB. A vector of 768 numbers takes 3 KiB, a query at most 16. */
const BYTES = 2 * 1024 * 1024;

/**
 * Caches the vectors of queries: an agent repeats a query within minutes. It keeps vectors, since a promise dies with its
 * request. Documents are not cached: each is embedded once.
 */
export class QueryVectorCache implements Embedder {
  readonly #embedder: Embedder;
  readonly #vectors: BoundedCache<{ vector: Vector }>;

  constructor(embedder: Embedder, { queries = QUERIES, bytes = BYTES } = {}) {
    this.#embedder = embedder;
    this.#vectors = new BoundedCache(queries, {
      most: bytes,
      of: ({ vector }, text) => (vector?.byteLength ?? 0) + 2 * text.length,
    });
  }

  get model(): string {
    return this.#embedder.model;
  }

  get dimensions(): number {
    return this.#embedder.dimensions;
  }

  get problem(): string | undefined {
    return this.#embedder.problem;
  }

  async embed(texts: readonly string[], options: EmbedOptions = {}): Promise<Vector[]> {
    if (options.as !== "query") return this.#embedder.embed(texts, options);
    // Read before the wait, in which other requests may evict them.
    const known = texts.map((text) => this.#vectors.get(this.#key(text)));
    const unknown = texts.filter((_, i) => known[i] === undefined);
    const answered = unknown.length === 0 ? [] : await this.#embedder.embed(unknown, options);
    for (const [i, text] of unknown.entries())
      this.#vectors.set(this.#key(text), { vector: answered[i] ?? null });
    const fresh = answered.values();
    return known.map((one) => (one === undefined ? (fresh.next().value ?? null) : one.vector));
  }

  #key(text: string): string {
    return `${this.#embedder.model}\n${text}`;
  }
}
