import type { EmbedAs } from "./embedder.ts";

/** The text before each query and each document. `name` is a part of the space's name: change both together. */
export type Prompts = { name: string; query: string; document: string };

/** The models in the Worker, as `EMBEDDINGS_MODEL` and /health name them. Their vectors have these names too. */
export const staticModel = { name: "static2-en-256", dimensions: 256 };
export const miniModel = { name: "mini-en-256", dimensions: 256 };
/** The first embeds where nothing else does. */
export const modelsInWorker = [staticModel, miniModel];

/** The general task of the card of Qwen3-Embedding, and the default of Workers AI. */
const QWEN3_TASK = "Given a web search query, retrieve relevant passages that answer the query";

export const noPrompts: Prompts = { name: "none", query: "", document: "" };

/** As the models' cards on Hugging Face have them. */
const prompts = {
  /** bge-*-en-v1.5: queries only. The card of bge-m3 asks for none. */
  bgeEn: {
    name: "bge-en",
    query: "Represent this sentence for searching relevant passages: ",
    document: "",
  },
  embeddingGemma: {
    name: "embeddinggemma",
    query: "task: search result | query: ",
    document: "title: none | text: ",
  },
  qwen3: { name: "qwen3", query: `Instruct: ${QWEN3_TASK}\nQuery:`, document: "" },
  e5: { name: "e5", query: "query: ", document: "passage: " },
  nomic: { name: "nomic", query: "search_query: ", document: "search_document: " },
} as const satisfies Record<string, Prompts>;

export type ModelLimits = {
  /** Tokens of one text, its prompt included. */
  tokens: number;
  /** Limits of one call. */
  batch: { texts: number; tokens: number };
};

type KnownModel = ModelLimits & {
  /** If absent, `EMBEDDINGS_DIMENSIONS` must be set. */
  dimensions?: number;
  /** The endpoint takes fewer dimensions as an option. Servers of other models refuse or ignore it. */
  reducible?: boolean;
  prompts: Prompts;
};

/** Workers AI documents this context window for bge-m3. OpenAI takes 300,000 tokens a call; others publish no limit. */
const CALL_TOKENS = 60_000;
/** The default of a Text Embeddings Inference server (`max_client_batch_size`). */
const FEW = { texts: 32, tokens: CALL_TOKENS };
const MANY = { texts: 100, tokens: CALL_TOKENS };
const openAi = { tokens: 8191, batch: MANY, prompts: noPrompts };
const bgeEn = { tokens: 512, batch: FEW, prompts: prompts.bgeEn };
const unknown: KnownModel = { tokens: 512, batch: FEW, prompts: noPrompts };

/** Models by the beginning of the last segment of their names: `openai/text-embedding-3-small`. Numbers are from their cards. */
const known: readonly [RegExp, KnownModel][] = [
  [/^text-embedding-3-small/, { ...openAi, dimensions: 1536, reducible: true }],
  [/^text-embedding-3-large/, { ...openAi, dimensions: 3072, reducible: true }],
  [/^text-embedding-ada-002/, { ...openAi, dimensions: 1536 }],
  [/^bge-small-en-v1\.5/, { ...bgeEn, dimensions: 384 }],
  [/^bge-base-en-v1\.5/, { ...bgeEn, dimensions: 768 }],
  [/^bge-large-en-v1\.5/, { ...bgeEn, dimensions: 1024 }],
  [/^bge-m3/, { ...unknown, dimensions: 1024, tokens: 8192 }],
  [/^embeddinggemma/, { ...unknown, dimensions: 768, tokens: 2048, prompts: prompts.embeddingGemma }],
  [/^qwen3-embedding[-:]0\.6b/, { ...unknown, dimensions: 1024, tokens: 8192, prompts: prompts.qwen3 }],
  [/^qwen3-embedding/, { ...unknown, tokens: 8192, prompts: prompts.qwen3 }],
  [/^(multilingual-)?e5-(small|base|large)(?!.*instruct)/, { ...unknown, prompts: prompts.e5 }],
  [/^nomic-embed-text/, { ...unknown, prompts: prompts.nomic }],
];

/** The limits and prompts of an endpoint's model; cautious ones if the name is not known. */
export function knownModel(name: string): KnownModel {
  const last = name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  return known.find(([pattern]) => pattern.test(last))?.[1] ?? unknown;
}

/** OpenAI serves these side by side, so one endpoint can still embed with the model before a change. */
export const openAiModels = ["text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"];

/** A text-embedding model of Workers AI. All answer `{ data: number[][] }`. */
export type WorkersAiEmbeddingModel = ModelLimits & {
  /** As Workers AI names it. */
  name: string;
  dimensions: number;
  /** Put before the texts here; `noPrompts` where the service does that. */
  prompts: Prompts;
  /** Names the space of its vectors. */
  space: string;
  input: (texts: string[], as: EmbedAs) => Record<string, unknown>;
};

const workersAiModel = (
  name: string,
  input: WorkersAiEmbeddingModel["input"],
  { pooling, ...other }: { pooling?: string } & Partial<WorkersAiEmbeddingModel> = {},
): WorkersAiEmbeddingModel => {
  const { dimensions = 0, ...model } = knownModel(name);
  const space = spaceName(name, { dimensions, pooling, prompts: model.prompts });
  return { ...model, name, dimensions, space, input, ...other };
};

/** Cloudflare recommends `cls` for long texts, and bge was trained with it. Its vectors do not compare with `mean`, the default. */
const workersAiBgeEn = (name: string) =>
  workersAiModel(name, (text) => ({ text, pooling: "cls" }), { pooling: "cls", batch: MANY });

export const defaultModel = workersAiBgeEn("@cf/baai/bge-base-en-v1.5");

/**
 * Models of Workers AI for `EMBEDDINGS_MODEL`. Options and shapes are those of developers.cloudflare.com/workers-
 * ai/models.
 */
export const workersAiModels: readonly WorkersAiEmbeddingModel[] = [
  workersAiBgeEn("@cf/baai/bge-small-en-v1.5"),
  defaultModel,
  workersAiBgeEn("@cf/baai/bge-large-en-v1.5"),
  // A text that is too long then fails, and is not cut in silence.
  workersAiModel("@cf/baai/bge-m3", (text) => ({ text, truncate_inputs: false }), { batch: MANY }),
  workersAiModel("@cf/google/embeddinggemma-300m", (text) => ({ text })),
  // The service puts the instruction before a query. It is sent to stay the same if the default changes.
  workersAiModel(
    "@cf/qwen/qwen3-embedding-0.6b",
    (texts, as) => (as === "query" ? { queries: texts, instruction: QWEN3_TASK } : { documents: texts }),
    { prompts: noPrompts },
  ),
];

/** Everything that makes two vectors of one model incomparable. */
type Traits = { dimensions: number; pooling?: string | undefined; prompts: Prompts; at?: string };

/** The name that vectors are stored under: `@cf/baai/bge-base-en-v1.5;768;pooling=cls;prompts=bge-en`. */
export function spaceName(model: string, { dimensions, pooling, prompts: { name }, at }: Traits): string {
  const traits = Object.entries({ pooling, prompts: name === "none" ? undefined : name, at })
    .filter(([, value]) => value !== undefined)
    .map(([trait, value]) => `${trait}=${value}`);
  return [model, dimensions, ...traits].join(";");
}
