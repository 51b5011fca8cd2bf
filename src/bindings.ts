import { D1Jobs, type Jobs } from "./d1/jobs.ts";
import { D1MemoryRecords, type MemoryRecords } from "./d1/memory-records.ts";
import { D1ThreadCatalogue, type ThreadCatalogue } from "./d1/thread-catalogue.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { EmbeddedEmbedder } from "./embeddings/embedded.ts";
import { type WorkersAi, WorkersAiEmbedder } from "./embeddings/workers-ai.ts";
import type { VectorIndex } from "./vectors/vector-index.ts";
import { type VectorizeBinding, VectorizeIndex } from "./vectors/vectorize.ts";

/** What a deployment binds: the default environment's bindings, and those that need an account. */
export type Bindings = Omit<Cloudflare.Env, "CAIRN_SECRET" | "CORS_ORIGINS"> & {
  CAIRN_SECRET?: string;
  CORS_ORIGINS?: string;
  AI?: WorkersAi;
  VECTORIZE?: VectorizeBinding;
};

/** What the Worker and its objects work with, made of the bindings here and nowhere else. */
export type Ports = {
  records: MemoryRecords;
  catalogue: ThreadCatalogue;
  jobs: Jobs;
  embedder: Embedder;
  /** Those that may have embedded what is stored, before a change of the bindings. */
  formerEmbedders: readonly Embedder[];
  /** The large index beside the one in each object; null where none is bound. */
  vectors: VectorIndex | null;
  now: () => number;
};

export const portsOf = (env: Bindings): Ports => ({
  records: new D1MemoryRecords(env.DB),
  catalogue: new D1ThreadCatalogue(env.DB),
  jobs: new D1Jobs(env.DB),
  embedder: env.AI === undefined ? new EmbeddedEmbedder(env.ASSETS) : new WorkersAiEmbedder(env.AI),
  formerEmbedders: env.AI === undefined ? [] : [new EmbeddedEmbedder(env.ASSETS)],
  vectors: env.VECTORIZE === undefined ? null : new VectorizeIndex(env.VECTORIZE),
  now: () => Date.now(),
});
