import { EmbeddedEmbedder } from "./embedded.ts";
import type { SharedModel } from "./embedded/shared-model.ts";
import type { Embedder } from "./embedder.ts";
import { endpointEmbedder, type EndpointVars, formerEndpointEmbedders } from "./endpoint-vars.ts";
import { UnusableEmbedder } from "./unusable.ts";
import { type WorkersAi, WorkersAiEmbedder } from "./workers-ai.ts";
import { workersAiModels } from "./workers-ai-models.ts";

/** What of a deployment's bindings says what embeds. `EMBEDDINGS_MODEL` may also name a model of Workers AI's, or ours. */
export type EmbedderBindings = EndpointVars & { ASSETS: Fetcher; AI?: WorkersAi };

/**
 * The embedder that is wanted, and all others that these bindings can still make, for vectors from before a change. What
 * does not add up gives an embedder that says so, and not the next best one: that would embed everything anew.
 */
export function embeddersOf(
  given: EmbedderBindings,
  wordModel: SharedModel,
): {
  embedder: Embedder;
  formerEmbedders: readonly Embedder[];
} {
  const env = withoutEmpty(given);
  const embedded = new EmbeddedEmbedder(env.ASSETS, wordModel);
  const wanted = wantedOf(env, embedded);
  const embedder = typeof wanted === "string" ? new UnusableEmbedder(wanted) : wanted;
  const former = [
    embedded,
    ...(env.AI === undefined ? [] : ofWorkersAi(env.AI)),
    ...formerEndpointEmbedders(env),
  ];
  return { embedder, formerEmbedders: former.filter(({ model }) => model !== embedder.model) };
}

/** The embedder, or what is wrong with the bindings. */
function wantedOf(env: EmbedderBindings, embedded: Embedder): Embedder | string {
  const embedder = namedBy(env, embedded);
  const { EMBEDDINGS_DIMENSIONS: wanted } = env;
  if (typeof embedder === "string" || wanted === undefined || Number(wanted) === embedder.dimensions)
    return embedder;
  return `EMBEDDINGS_DIMENSIONS is ${wanted}, and the model has ${embedder.dimensions}`;
}

function namedBy(env: EmbedderBindings, embedded: Embedder): Embedder | string {
  const { AI, EMBEDDINGS_MODEL: name, EMBEDDINGS_URL } = env;
  if (name === embedded.model) return embedded;
  const cloudflares = name?.startsWith("@cf/") === true;
  // Workers AI has an endpoint of this kind as well, for those who are not bound to it.
  if (EMBEDDINGS_URL !== undefined && !(cloudflares && AI !== undefined)) return endpointEmbedder(env);
  if (name === undefined) return AI === undefined ? embedded : new WorkersAiEmbedder(AI);
  if (cloudflares && AI === undefined) return `EMBEDDINGS_MODEL is ${name}, and there is no AI binding`;
  const model = workersAiModels.find((one) => one.name === name);
  if (AI !== undefined && model !== undefined) return new WorkersAiEmbedder(AI, model);
  const names = [embedded.model, ...workersAiModels.map((one) => one.name)].join(", ");
  return `EMBEDDINGS_MODEL is ${name}: without EMBEDDINGS_URL it is one of ${names}`;
}

const ofWorkersAi = (ai: WorkersAi): WorkersAiEmbedder[] =>
  workersAiModels.map((model) => new WorkersAiEmbedder(ai, model));

const set = (text: string | undefined) => (text?.trim() === "" ? undefined : text?.trim());

/** A variable that is set to nothing is one that is not set. */
function withoutEmpty({ ASSETS, AI, ...vars }: EmbedderBindings): EmbedderBindings {
  return {
    ASSETS,
    AI,
    EMBEDDINGS_URL: set(vars.EMBEDDINGS_URL),
    EMBEDDINGS_MODEL: set(vars.EMBEDDINGS_MODEL),
    EMBEDDINGS_KEY: set(vars.EMBEDDINGS_KEY),
    EMBEDDINGS_DIMENSIONS: set(vars.EMBEDDINGS_DIMENSIONS),
  };
}
