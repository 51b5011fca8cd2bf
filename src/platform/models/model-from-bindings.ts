import type { WorkersAi } from "../embeddings/workers-ai.ts";
import { endpointFromVars } from "../endpoint-from-vars.ts";
import { EndpointModel } from "./endpoint.ts";
import { type Generated, type LanguageModel, ModelRefusal } from "./language-model.ts";
import { DEFAULT_MODEL, WorkersAiModel } from "./workers-ai.ts";

/** The bindings that choose the language model. */
export type ModelBindings = {
  AI?: WorkersAi;
  /** The base (`https://api.openai.com/v1`) or the whole address (`…/chat/completions`) of an endpoint. */
  LLM_URL?: string;
  /** The endpoint's name of the model, or a model of Workers AI; `none` for no model. */
  LLM_MODEL?: string;
  /** A secret; absent for an endpoint without authentication. */
  LLM_KEY?: string;
};

/** Stands in for a model that the bindings do not allow. Every call fails with the reason. */
class MisconfiguredModel implements LanguageModel {
  readonly name = "none";
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }

  async generate(): Promise<Generated> {
    throw new ModelRefusal("settings", `the language model is misconfigured: ${this.problem}`);
  }
}

/** The language model; null if none is set. Wrong bindings give a model that reports the problem. */
export function modelFromBindings(env: ModelBindings): LanguageModel | null {
  const [url, name, key] = [env.LLM_URL, env.LLM_MODEL, env.LLM_KEY].map((text) => text?.trim() || undefined);
  if (name === "none") return null;
  if (url !== undefined) {
    const endpoint = endpointFromVars(
      { prefix: "LLM", service: "model", path: "/chat/completions" },
      { url, key },
    );
    if (typeof endpoint === "string") return new MisconfiguredModel(endpoint);
    if (name === undefined) return new MisconfiguredModel("LLM_URL is set, and LLM_MODEL is not");
    return new EndpointModel(endpoint, name);
  }
  if (env.AI !== undefined) return new WorkersAiModel(env.AI, name ?? DEFAULT_MODEL);
  return name === undefined
    ? null
    : new MisconfiguredModel(`LLM_MODEL is ${name}, and there is neither LLM_URL nor an AI binding`);
}
