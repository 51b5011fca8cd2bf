import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { EmbeddingTarget, SearchIndex } from "../search-index/search-index.ts";
import { turn } from "../../../src/platform/turn.ts";
import type { Transactions } from "../core/transactions.ts";

type EmbeddingDependencies = {
  index: SearchIndex;
  transactions: Transactions;
  embedder: Embedder;
  quota: Pick<QuotaGuard, "storageFailure">;
  /** True if messages get vectors at all. */
  byMeaning: boolean;
  /** Null if there is no word model. */
  lexicon: () => Promise<Lexicon | null>;
  now: () => number;
};

/** Documents that one alarm embeds. */
const EMBED = 100;
/** An embedder that hangs delays the rest of the alarm this long, EMBED_FAILURES times at most. */
const EMBED_WITHIN_MS = 20_000;
const EMBED_RETRY_MS = 30_000;
/** Retry while the deployment has no valid embedder, or the object has no room for vectors. */
const EMBED_BLOCKED_MS = 5 * 60_000;
/** After so many failures in one alarm the embedder is taken to be down. */
const EMBED_FAILURES = 3;
/** Characters that are cut into word pieces, some 20 ms, for which other calls wait. */
const TURN_CHARACTERS = 64 * 1024;

/** Gives documents their vectors and word pieces, some in each alarm. */
export class Embedding {
  readonly #deps: EmbeddingDependencies;
  #retryAt: number | null = null;

  constructor(deps: EmbeddingDependencies) {
    this.#deps = deps;
  }

  /** The model of all vectors; null while the embedder is misconfigured, and vectors stay as they are. */
  target(): EmbeddingTarget | null {
    const { embedder, byMeaning: messages } = this.#deps;
    return embedder.problem === undefined ? { model: embedder.model, messages } : null;
  }

  /** Embeds some of the waiting documents. */
  async run(): Promise<void> {
    const { index, quota, now } = this.#deps;
    this.#retryAt = null;
    const target = this.target();
    if (target !== null) index.enqueue(target);
    const waiting = index.unembedded(EMBED);
    if (waiting.length === 0) return index.vectors.removeUnusedModels();
    // The room that is left is for deletes. Waiting documents are found by their words.
    if (target === null || quota.storageFailure() !== null) {
      this.#retryAt = now() + EMBED_BLOCKED_MS;
      return;
    }
    // The embedder may refuse one text: documents that have failed are tried one by one, and fail no others.
    const fresh = waiting.filter(({ attempts }) => attempts === 0);
    const batches = fresh.length > 0 ? [this.#some(fresh)] : this.#some(waiting).map((one) => [one]);
    let failures = 0;
    for (const batch of batches) {
      if (!(await this.#embedBatch(batch))) failures++;
      if (failures === EMBED_FAILURES) break;
    }
    if (failures > 0) this.#retryAt = now() + EMBED_RETRY_MS;
  }

  nextDue(): number | null {
    const { index, now } = this.#deps;
    return this.#retryAt ?? (index.isUnembedded ? now() : null);
  }

  /** Cuts some waiting documents into word pieces. Returns whether there are more. Loads the word model only if needed. */
  async cut(): Promise<boolean> {
    const { index, lexicon } = this.#deps;
    if (!index.isUncut) return false;
    const model = await lexicon();
    return model !== null && index.cut(model);
  }

  /** The first of the documents, as many as the embedder should get at once. */
  #some<Document extends { text: string }>(documents: readonly Document[]): Document[] {
    let left = this.#deps.embedder.batchCharacters ?? Infinity;
    return documents.filter(({ text }, i) => (left -= text.length) >= 0 || i === 0);
  }

  async #embedBatch(documents: readonly { n: number; text: string }[]): Promise<boolean> {
    const { index, transactions, embedder, lexicon } = this.#deps;
    const texts = documents.map(({ text }) => text);
    let vectors: Vector[];
    try {
      vectors = await embedder.embed(texts, { withinMs: EMBED_WITHIN_MS });
    } catch (error) {
      console.error({ message: "the embedder failed", model: embedder.model, error: String(error) });
      index.embeddingFailed(documents.map(({ n }) => n));
      return false;
    }
    const words = await lexicon();
    const { model, dimensions } = embedder;
    const pieces: (Uint16Array | null)[] = [];
    let cut = 0;
    for (const { text } of documents) {
      pieces.push(words && distinctPieces(words, text));
      cut += text.length;
      if (cut < TURN_CHARACTERS) continue;
      await turn();
      cut = 0;
    }
    transactions.atomically(() => {
      const stored = index.textsOf(documents.map(({ n }) => n));
      for (const [i, { n, text }] of documents.entries())
        // A message that was replaced meanwhile still waits, for the vector of its new text.
        if ((stored.get(n) ?? text) === text)
          index.attach(n, { model, dimensions, vector: vectors[i] ?? null, pieces: pieces[i] ?? null });
    });
    return true;
  }
}
