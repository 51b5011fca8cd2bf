import { type Prompts, prompts } from "./prompts.ts";

/** What is known of a model that an endpoint names; of one that is not known, what does for most. */
export type KnownModel = {
  /** Absent: `EMBEDDINGS_DIMENSIONS` has to say it. */
  dimensions?: number;
  /** Whether it can be asked for fewer dimensions. Other models' servers refuse the option, or ignore it. */
  reducible?: boolean;
  tokens: number;
  /** Texts in one call. */
  texts: number;
  prompts: Prompts;
};

/** As many as a Text Embeddings Inference server takes unless told otherwise (`max_client_batch_size`). */
const FEW = 32;
const openAi = { tokens: 8191, texts: 100, prompts: prompts.none };
const bgeEn = { tokens: 512, texts: FEW, prompts: prompts.bgeEn };
const unknown: KnownModel = { tokens: 512, texts: FEW, prompts: prompts.none };

/** Models by the beginning of their names. An endpoint's model may be a route of its own: `openai/text-embedding-3-small`. */
const known: readonly [RegExp, KnownModel][] = [
  [/^text-embedding-3-small/, { ...openAi, dimensions: 1536, reducible: true }],
  [/^text-embedding-3-large/, { ...openAi, dimensions: 3072, reducible: true }],
  [/^text-embedding-ada-002/, { ...openAi, dimensions: 1536 }],
  [/^bge-small-en-v1\.5/, { ...bgeEn, dimensions: 384 }],
  [/^bge-base-en-v1\.5/, { ...bgeEn, dimensions: 768 }],
  [/^bge-large-en-v1\.5/, { ...bgeEn, dimensions: 1024 }],
  [/^bge-m3/, { dimensions: 1024, tokens: 8192, texts: FEW, prompts: prompts.none }],
  [/^embeddinggemma/, { dimensions: 768, tokens: 2048, texts: FEW, prompts: prompts.embeddingGemma }],
  [/^qwen3-embedding[-:]0\.6b/, { dimensions: 1024, tokens: 8192, texts: FEW, prompts: prompts.qwen3 }],
  [/^qwen3-embedding/, { tokens: 8192, texts: FEW, prompts: prompts.qwen3 }],
  [/^(multilingual-)?e5-(small|base|large)(?!.*instruct)/, { ...unknown, prompts: prompts.e5 }],
  [/^nomic-embed-text/, { ...unknown, prompts: prompts.nomic }],
];

export function knownModel(name: string): KnownModel {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  return known.find(([pattern]) => pattern.test(last))?.[1] ?? unknown;
}

/** Models that one endpoint is known to serve side by side, so that it can still make the vectors of another of them. */
export const openAiModels = ["text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"];
