import { BoundedCache } from "../../domain/bounded-cache.ts";
import type { Embedder, EmbedOptions, Vector } from "./embedder.ts";

const QUERIES = 500;
/** What they may take of the 128 MB of an isolate. A vector of 768 numbers takes 3 KiB, a query at most 16. */
const BYTES = 2 * 1024 * 1024;

/**
 * Asks another embedder, and for a query only once: an agent asks the same again within minutes, and a query waits for
 * its vector. Vectors are kept and not the promises of them, which would die with their request; documents are not
 * kept, as each is embedded once. Belongs to the services of one environment.
 */
export class RememberedQueries implements Embedder {
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
    // Taken out before the wait, in which other requests may push them out.
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
