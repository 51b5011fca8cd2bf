import { EndpointEmbedder } from "./endpoint.ts";
import { knownModel, openAiModels } from "./endpoint-models.ts";
import type { Endpoint } from "./endpoint-request.ts";

/** What of a deployment's bindings names an endpoint, and what is asked of it. */
export type EndpointVars = {
  /** The base (`https://api.openai.com/v1`) or the whole address (`…/embeddings`). */
  EMBEDDINGS_URL?: string;
  /** What the endpoint calls the model. */
  EMBEDDINGS_MODEL?: string;
  /** A secret; absent for an endpoint that asks for none. */
  EMBEDDINGS_KEY?: string;
  /** How many numbers a vector has: where the model's name does not tell, or fewer than the model's own. */
  EMBEDDINGS_DIMENSIONS?: string;
};

/** More than any model that is known has. */
const MOST_DIMENSIONS = 8192;
const HERE = /^(localhost|.+\.localhost|127\.0\.0\.1|\[::1\])$/;

/** The embedder that the variables describe, or what is wrong with them. No message repeats the address or the key. */
export function endpointEmbedder(vars: EndpointVars): EndpointEmbedder | string {
  const endpoint = endpointOf(vars);
  if (typeof endpoint === "string") return endpoint;
  const { EMBEDDINGS_MODEL: name } = vars;
  if (name === undefined) return "EMBEDDINGS_URL is set, and EMBEDDINGS_MODEL is not";
  const dimensions = dimensionsOf(name, vars.EMBEDDINGS_DIMENSIONS);
  return typeof dimensions === "string" ? dimensions : new EndpointEmbedder(endpoint, { name, dimensions });
}

/** What the endpoint may have embedded with before: the models that OpenAI serves side by side. */
export function formerEndpointEmbedders(vars: EndpointVars): EndpointEmbedder[] {
  const endpoint = endpointOf(vars);
  if (typeof endpoint === "string") return [];
  return openAiModels.flatMap((name) => {
    const { dimensions } = knownModel(name);
    return dimensions === undefined ? [] : [new EndpointEmbedder(endpoint, { name, dimensions })];
  });
}

function endpointOf({ EMBEDDINGS_URL, EMBEDDINGS_KEY: key }: EndpointVars): Endpoint | string {
  const url = URL.parse(EMBEDDINGS_URL ?? "");
  if (url === null) return "EMBEDDINGS_URL is no URL";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && HERE.test(url.hostname)))
    return "EMBEDDINGS_URL is not https (http is for localhost only)";
  if (url.username !== "" || url.password !== "")
    return "EMBEDDINGS_URL holds a password: EMBEDDINGS_KEY is for that";
  // Otherwise it is `fetch` that refuses it, in a message that repeats it.
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    return "EMBEDDINGS_KEY is empty, or no key that a header can hold";
  if (!url.pathname.endsWith("/embeddings")) url.pathname = `${url.pathname.replace(/\/$/, "")}/embeddings`;
  return {
    url,
    ...(key !== undefined && { key }),
    fetch: (address, init) => fetch(address, init),
    wait: (ms) => scheduler.wait(ms),
    now: () => Date.now(),
  };
}

function dimensionsOf(name: string, given: string | undefined): number | string {
  const { dimensions: own, reducible = false } = knownModel(name);
  if (given === undefined)
    return own ?? `EMBEDDINGS_DIMENSIONS is not set, and how many ${name} has is not known here`;
  const wanted = Number(given);
  if (!Number.isInteger(wanted) || wanted < 1 || wanted > MOST_DIMENSIONS)
    return `EMBEDDINGS_DIMENSIONS is not a number from 1 to ${MOST_DIMENSIONS}`;
  if (own === undefined || wanted === own || (reducible && wanted < own)) return wanted;
  return `EMBEDDINGS_DIMENSIONS is ${wanted}, and ${name} has ${own}`;
}
