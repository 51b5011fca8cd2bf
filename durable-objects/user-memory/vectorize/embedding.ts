import type { Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";
import { distinctPieces, type Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import type { QuotaGuard } from "../core/quota-guard.ts";
import type { Meaning, SearchIndex } from "../search-index/search-index.ts";
import type { Transactions } from "../core/transactions.ts";

type Parts = {
  index: SearchIndex;
  transactions: Transactions;
  embedder: Embedder;
  quota: Pick<QuotaGuard, "refusesGrowth">;
  /** Whether messages are found by their meaning at all. */
  byMeaning: boolean;
  /** The word model, or null where there is none: recall does without it then. */
  lexicon: () => Promise<Lexicon | null>;
  now: () => number;
};

/** How many documents one alarm embeds. */
const EMBED = 100;
/** An embedder that hangs holds up all else that the alarm does for so long, three times at most. */
const EMBED_WITHIN_MS = 20_000;
const EMBED_RETRY_MS = 30_000;
/** How soon to look whether there is an embedder again, where the deployment is set up wrong. */
const EMBED_SET_UP_MS = 5 * 60_000;
/** How soon to look whether the object has room for vectors again. */
const EMBED_ROOM_MS = 5 * 60_000;
/** After so many failures in one alarm the embedder is taken to be down. */
const EMBED_FAILURES = 3;

/** Gives documents their vectors and word pieces, some in each alarm. */
export class Embedding {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** What all documents are to have; null while the deployment is set up wrong, and all stays as it is. */
  meaning(): Meaning | null {
    const { embedder, byMeaning: messages } = this.#parts;
    return embedder.problem === undefined ? { model: embedder.model, messages } : null;
  }

  /** Embeds some of the documents that wait for it. Answers when to go on, or null if none is left. */
  async embed(): Promise<number | null> {
    const { index, now } = this.#parts;
    const waiting = index.unembedded(EMBED);
    if (waiting.length === 0) return null;
    // They have not failed: nobody could try.
    if (this.meaning() === null) return now() + EMBED_SET_UP_MS;
    // The room that is left is for deletes. What waits is found by its words.
    if (this.#parts.quota.refusesGrowth() !== null) return now() + EMBED_ROOM_MS;
    // One text may be what the embedder refuses: those that have failed are tried one by one, and do not fail others.
    const fresh = waiting.filter(({ attempts }) => attempts === 0);
    const batches = fresh.length > 0 ? [fresh] : waiting.map((one) => [one]);
    let failures = 0;
    for (const batch of batches) {
      if (!(await this.#embedBatch(batch))) failures++;
      if (failures === EMBED_FAILURES) break;
    }
    if (failures > 0) return now() + EMBED_RETRY_MS;
    return index.unembedded(1).length === 0 ? null : now();
  }

  /** Cuts some of what waits into word pieces. Answers whether there is more. Without such work, no model is loaded. */
  async cut(): Promise<boolean> {
    const { index, lexicon } = this.#parts;
    if (!index.pieces.waiting) return false;
    const model = await lexicon();
    return model !== null && index.cut(model);
  }

  async #embedBatch(documents: readonly { n: number; text: string }[]): Promise<boolean> {
    const { index, transactions, embedder, lexicon } = this.#parts;
    let vectors: Vector[];
    try {
      vectors = await embedder.embed(
        documents.map(({ text }) => text),
        { withinMs: EMBED_WITHIN_MS },
      );
    } catch (error) {
      console.error({ message: "the embedder failed", model: embedder.model, error: String(error) });
      index.embeddingFailed(documents.map(({ n }) => n));
      return false;
    }
    const words = await lexicon();
    const { model, dimensions } = embedder;
    transactions.atomically(() => {
      for (const [i, { n, text }] of documents.entries()) {
        const pieces = words && distinctPieces(words, text);
        index.attach(n, { model, dimensions, vector: vectors[i] ?? null, pieces });
      }
    });
    return true;
  }
}
