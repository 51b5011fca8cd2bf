import { D1ErasureRecords, type ErasureRecords } from "./d1/erasure-records.ts";
import { D1Jobs, type Jobs } from "./d1/jobs.ts";
import { D1MemoryRecords, type MemoryRecords } from "./d1/memory-records.ts";
import { D1ThreadCatalogue, type ThreadCatalogue } from "./d1/thread-catalogue.ts";
import { type EmbedderBindings, embeddersOf } from "./embeddings/choose.ts";
import { embeddedModel } from "./embeddings/embedded.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { D1UserCatalogue, type UserCatalogue } from "./d1/user-catalogue.ts";
import { DerivedReceiptKey, type ReceiptKey } from "./erasure/receipt-key.ts";
import type { Lexicon } from "./memory/ranking/lexicon.ts";
import type { VectorIndex } from "./vectors/vector-index.ts";
import { type VectorizeBinding, VectorizeIndex } from "./vectors/vectorize.ts";

/** What a deployment binds: the default environment's bindings, and those that need an account. */
export type Bindings = Omit<Cloudflare.Env, "CAIRN_SECRET" | "CORS_ORIGINS"> &
  EmbedderBindings & {
    CAIRN_SECRET?: string;
    CORS_ORIGINS?: string;
    VECTORIZE?: VectorizeBinding;
  };

/** What the Worker and its objects work with, made of the bindings here and nowhere else. */
export type Ports = {
  records: MemoryRecords;
  catalogue: ThreadCatalogue;
  users: UserCatalogue;
  jobs: Jobs;
  erasures: ErasureRecords;
  /** Signs what was erased. */
  receipts: ReceiptKey;
  embedder: Embedder;
  /** All others that the bindings can make: what is stored may have vectors of theirs, from before a change. */
  formerEmbedders: readonly Embedder[];
  /** The word model that ranks what was found. Rejects where it is not among the assets. */
  lexicon: () => Promise<Lexicon>;
  /** The large index beside the one in each object; null where none is bound. */
  vectors: VectorIndex | null;
  now: () => number;
};

export const portsOf = (env: Bindings): Ports => ({
  records: new D1MemoryRecords(env.DB),
  catalogue: new D1ThreadCatalogue(env.DB),
  users: new D1UserCatalogue(env.DB),
  jobs: new D1Jobs(env.DB),
  erasures: new D1ErasureRecords(env.DB),
  receipts: new DerivedReceiptKey(env.CAIRN_SECRET),
  ...embeddersOf(env),
  lexicon: () => embeddedModel(env.ASSETS),
  vectors: env.VECTORIZE === undefined ? null : new VectorizeIndex(env.VECTORIZE),
  now: () => Date.now(),
});
