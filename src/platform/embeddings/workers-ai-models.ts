import type { EmbedAs } from "./embedder.ts";
import type { Shape } from "./in-pieces.ts";
import { prompts, QWEN3_TASK } from "./prompts.ts";
import { spaceName } from "./space-name.ts";

/** A text-embedding model of Workers AI: what it takes and gives, and how it is asked. All answer `{ data: number[][] }`. */
export type WorkersAiModel = Shape & {
  /** As Workers AI names it. */
  name: string;
  /** Names the space of its vectors. */
  space: string;
  input: (texts: string[], as: EmbedAs) => Record<string, unknown>;
};

/** The list that an embedding model's page gives as the most of `text`. */
const TEXTS = 100;
/** What one call holds at most in sum, where the pages say it: the `context window` of bge-m3's, whose texts are 8,192. */
const CALL_TOKENS = 60_000;

/**
 * `cls` reads a long text better, says Cloudflare, and it is what the bge models were trained with; the default is
 * `mean` only so as not to break who was there before. The two do not compare.
 */
const bgeEn = (name: string, dimensions: number): WorkersAiModel => ({
  name,
  dimensions,
  tokens: 512,
  batch: { texts: TEXTS, tokens: CALL_TOKENS },
  prompts: prompts.bgeEn,
  space: spaceName(name, { dimensions, pooling: "cls", prompts: prompts.bgeEn.name }),
  input: (text) => ({ text, pooling: "cls" }),
});

const bgeM3: WorkersAiModel = {
  name: "@cf/baai/bge-m3",
  dimensions: 1024,
  tokens: 8192,
  batch: { texts: TEXTS, tokens: CALL_TOKENS },
  prompts: prompts.none,
  space: spaceName("@cf/baai/bge-m3", { dimensions: 1024 }),
  // It refuses a text that is too long, unless told to cut it: what is refused is seen and tried again.
  input: (text) => ({ text, truncate_inputs: false }),
};

const embeddingGemma: WorkersAiModel = {
  name: "@cf/google/embeddinggemma-300m",
  dimensions: 768,
  tokens: 2048,
  // Its page gives no number: the least of its siblings'.
  batch: { texts: 32, tokens: CALL_TOKENS },
  prompts: prompts.embeddingGemma,
  space: spaceName("@cf/google/embeddinggemma-300m", {
    dimensions: 768,
    prompts: prompts.embeddingGemma.name,
  }),
  input: (text) => ({ text }),
};

const qwen3: WorkersAiModel = {
  name: "@cf/qwen/qwen3-embedding-0.6b",
  dimensions: 1024,
  tokens: 8192,
  batch: { texts: 32, tokens: CALL_TOKENS },
  // The service puts the instruction before the query itself; it is sent so that its default may change.
  prompts: prompts.none,
  space: spaceName("@cf/qwen/qwen3-embedding-0.6b", { dimensions: 1024, prompts: prompts.qwen3.name }),
  input: (texts, as) => (as === "query" ? { queries: texts, instruction: QWEN3_TASK } : { documents: texts }),
};

export const defaultModel = bgeEn("@cf/baai/bge-base-en-v1.5", 768);

/**
 * What `EMBEDDINGS_MODEL` may name. Limits, options and shapes are those of developers.cloudflare.com/workers-ai/models;
 * what is not said there (tokens and dimensions of bge-m3, embeddinggemma and qwen3) of the models' cards.
 */
export const workersAiModels: readonly WorkersAiModel[] = [
  bgeEn("@cf/baai/bge-small-en-v1.5", 384),
  defaultModel,
  bgeEn("@cf/baai/bge-large-en-v1.5", 1024),
  bgeM3,
  embeddingGemma,
  qwen3,
];
