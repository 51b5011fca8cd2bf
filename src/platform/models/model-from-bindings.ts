import type { WorkersAi } from "../embeddings/workers-ai.ts";
import { endpointFromVars } from "../endpoint-from-vars.ts";
import { EndpointModel } from "./endpoint.ts";
import { type LanguageModel, ModelRefusal } from "./language-model.ts";
import { WorkersAiModel } from "./workers-ai.ts";

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
const misconfigured = (problem: string): LanguageModel => ({
  name: "none",
  problem,
  generate: () =>
    Promise.reject(new ModelRefusal("settings", `the language model is misconfigured: ${problem}`)),
});

/**
 * The language model that the bindings name; null if they name none, whatever else is bound: a model costs. Wrong bindings give a model
 * that reports the problem.
 */
export function modelFromBindings(env: ModelBindings): LanguageModel | null {
  const [url, name, key] = [env.LLM_URL, env.LLM_MODEL, env.LLM_KEY].map((text) => text?.trim() || undefined);
  if (name === "none") return null;
  if (url !== undefined) {
    const endpoint = endpointFromVars(
      { prefix: "LLM", service: "model", path: "/chat/completions" },
      { url, key },
    );
    if (typeof endpoint === "string") return misconfigured(endpoint);
    if (name === undefined) return misconfigured("LLM_URL is set, and LLM_MODEL is not");
    return new EndpointModel(endpoint, name);
  }
  if (name === undefined) return null;
  // Workers AI has its own models, and some of Hugging Face.
  if (!name.startsWith("@cf/") && !name.startsWith("@hf/"))
    return misconfigured(
      `LLM_MODEL is ${name}: it needs LLM_URL, or is a model of Workers AI (@cf/… or @hf/…)`,
    );
  if (env.AI === undefined) return misconfigured(`LLM_MODEL is ${name}, and there is no AI binding`);
  return new WorkersAiModel(env.AI, name);
}
