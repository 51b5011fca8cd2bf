import { EmbeddedEmbedder } from "./embedded.ts";
import type { WordModel } from "./embedded/word-model.ts";
import type { Embedder, Vector } from "./embedder.ts";
import { EndpointEmbedder } from "./endpoint.ts";
import { endpointFromVars } from "../endpoint-from-vars.ts";
import type { Endpoint } from "../endpoint-request.ts";
import { MiniEmbedder } from "./mini.ts";
import type { SharedMini } from "./mini/mini.ts";
import { knownModel, openAiModels, workersAiModels } from "./models.ts";
import { type WorkersAi, WorkersAiEmbedder } from "./workers-ai.ts";

/** The bindings that choose the embedder. */
export type EmbedderBindings = {
  ASSETS: Fetcher;
  AI?: WorkersAi;
  /** The base (`https://api.openai.com/v1`) or the whole address (`…/embeddings`) of an endpoint. */
  EMBEDDINGS_URL?: string;
  /** The endpoint's name of the model, a model of Workers AI, or one in the Worker. */
  EMBEDDINGS_MODEL?: string;
  /** A secret; absent for an endpoint without authentication. */
  EMBEDDINGS_KEY?: string;
  /** Required for a model that is not known here; or fewer than the model's own. */
  EMBEDDINGS_DIMENSIONS?: string;
};

const MAX_DIMENSIONS = 8192;

/** Stands in for an embedder that the bindings do not allow. Every call fails with the reason. */
export class MisconfiguredEmbedder implements Embedder {
  readonly model = "none";
  readonly dimensions = 0;
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }

  async embed(): Promise<Vector[]> {
    throw new Error(`the embedder is misconfigured: ${this.problem}`);
  }
}

/**
 * The chosen embedder, and all others that these bindings allow, for vectors from before a change. Wrong bindings give an
 * embedder that reports the problem. Another model in its place would embed everything again.
 */
export function embeddersFromBindings(
  bindings: EmbedderBindings,
  { wordModel, mini }: { wordModel: WordModel; mini: SharedMini },
): { embedder: Embedder; formerEmbedders: readonly Embedder[] } {
  const env = withoutBlank(bindings);
  const inWorker = [new EmbeddedEmbedder(env.ASSETS, wordModel), new MiniEmbedder(env.ASSETS, mini)] as const;
  const chosen = chooseEmbedder(env, inWorker);
  const embedder = typeof chosen === "string" ? new MisconfiguredEmbedder(chosen) : chosen;
  const { AI } = env;
  const former = [
    ...inWorker,
    ...(AI === undefined ? [] : workersAiModels.map((model) => new WorkersAiEmbedder(AI, model))),
    ...formerEndpointEmbedders(env),
  ];
  return { embedder, formerEmbedders: former.filter(({ model }) => model !== embedder.model) };
}

/** The models that need no account; the default first. */
type InWorker = readonly [Embedder, ...Embedder[]];

/** The embedder, or the problem of the bindings. */
function chooseEmbedder(env: EmbedderBindings, inWorker: InWorker): Embedder | string {
  const embedder = embedderOfModel(env, inWorker);
  const { EMBEDDINGS_DIMENSIONS: setting } = env;
  if (typeof embedder === "string" || setting === undefined || Number(setting) === embedder.dimensions)
    return embedder;
  return `EMBEDDINGS_DIMENSIONS is ${setting}, and the model has ${embedder.dimensions}`;
}

function embedderOfModel(env: EmbedderBindings, inWorker: InWorker): Embedder | string {
  const { AI, EMBEDDINGS_MODEL: name, EMBEDDINGS_URL } = env;
  const named = inWorker.find(({ model }) => model === name);
  if (named !== undefined) return named;
  // An endpoint may be Cloudflare's too: Workers AI has one that is compatible with OpenAI's.
  if (EMBEDDINGS_URL !== undefined) return endpointEmbedder(env);
  // Never by the binding: every deployment has it, and on a laptop it refuses each call.
  if (name === undefined) return inWorker[0];
  if (name.startsWith("@cf/") && AI === undefined)
    return `EMBEDDINGS_MODEL is ${name}, and there is no AI binding`;
  const model = workersAiModels.find((one) => one.name === name);
  if (AI !== undefined && model !== undefined) return new WorkersAiEmbedder(AI, model);
  const names = [...inWorker.map((one) => one.model), ...workersAiModels.map((one) => one.name)].join(", ");
  return `EMBEDDINGS_MODEL is ${name}: without EMBEDDINGS_URL it is one of ${names}`;
}

/** No message repeats the address or the key. */
function endpointEmbedder(vars: EmbedderBindings): EndpointEmbedder | string {
  const endpoint = endpointOf(vars);
  if (typeof endpoint === "string") return endpoint;
  const { EMBEDDINGS_MODEL: name } = vars;
  if (name === undefined) return "EMBEDDINGS_URL is set, and EMBEDDINGS_MODEL is not";
  const dimensions = dimensionsOf(name, vars.EMBEDDINGS_DIMENSIONS);
  return typeof dimensions === "string" ? dimensions : new EndpointEmbedder(endpoint, { name, dimensions });
}

function formerEndpointEmbedders(vars: EmbedderBindings): EndpointEmbedder[] {
  const endpoint = endpointOf(vars);
  if (typeof endpoint === "string") return [];
  return openAiModels.flatMap((name) => {
    const { dimensions } = knownModel(name);
    return dimensions === undefined ? [] : [new EndpointEmbedder(endpoint, { name, dimensions })];
  });
}

const endpointOf = ({ EMBEDDINGS_URL: url, EMBEDDINGS_KEY: key }: EmbedderBindings): Endpoint | string =>
  endpointFromVars({ prefix: "EMBEDDINGS", service: "embeddings", path: "/embeddings" }, { url, key });

function dimensionsOf(name: string, setting: string | undefined): number | string {
  const { dimensions: own, reducible = false } = knownModel(name);
  if (setting === undefined)
    return own ?? `EMBEDDINGS_DIMENSIONS is not set, and the dimensions of ${name} are not known here`;
  const dimensions = Number(setting);
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_DIMENSIONS)
    return `EMBEDDINGS_DIMENSIONS is not a number from 1 to ${MAX_DIMENSIONS}`;
  if (own === undefined || dimensions === own || (reducible && dimensions < own)) return dimensions;
  return `EMBEDDINGS_DIMENSIONS is ${dimensions}, and ${name} has ${own}`;
}

/** Treats a blank variable as an absent one. */
function withoutBlank(env: EmbedderBindings): EmbedderBindings {
  const { ASSETS, AI, EMBEDDINGS_URL, EMBEDDINGS_MODEL, EMBEDDINGS_KEY, EMBEDDINGS_DIMENSIONS } = env;
  const vars = { EMBEDDINGS_URL, EMBEDDINGS_MODEL, EMBEDDINGS_KEY, EMBEDDINGS_DIMENSIONS };
  const set = Object.entries(vars).map(([name, text]) => [name, text?.trim() || undefined]);
  return { ASSETS, AI, ...Object.fromEntries(set) };
}
