// Models of Workers AI, which no laptop has: what names one is refused before anything starts.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { parse } from "smol-toml";
import { CannotStart } from "./cannot-start.ts";

const root = join(import.meta.dirname, "../..");
type Vars = Readonly<Record<string, string | undefined>>;

/** Each variable that names a model, what counts in its place, and what to do without Workers AI. */
const MODELS = [
  {
    name: "EMBEDDINGS_MODEL",
    endpoint: "EMBEDDINGS_URL",
    instead: "Leave it out for the model in the Worker, or name one of an endpoint with EMBEDDINGS_URL",
  },
  {
    name: "LLM_MODEL",
    endpoint: "LLM_URL",
    instead: "Leave it out, or name a model of an endpoint with LLM_URL",
  },
  { name: "RERANKER_MODEL", endpoint: null, instead: "Leave it out" },
] as const;

/** The problem of variables that need Workers AI; null if none does. */
export function accountModelProblem(vars: Vars): string | null {
  const set = (name: string | null) => (name === null ? "" : (vars[name]?.trim() ?? ""));
  const found = MODELS.find(({ name, endpoint }) => /^@[ch]f\//.test(set(name)) && set(endpoint) === "");
  if (found === undefined) return null;
  const { name, instead } = found;
  return (
    `${name} is ${set(name)}, a model of Workers AI, which runs in an account and not here. ${instead} ` +
    "(wrangler.toml and .dev.vars hold the variables of this machine). To use it, deploy: docs/guides/deploy.md."
  );
}

/** Refuses variables of wrangler.toml, of `.dev.vars` and of the caller, the last of them first, that need Workers AI. */
export function requireLocalModels(given: Vars): void {
  const { vars = {} } = parse(readFileSync(join(root, "wrangler.toml"), "utf8"));
  const file = join(root, ".dev.vars");
  const problem = accountModelProblem({
    // A variable of another shape names no model.
    ...(vars as Vars),
    ...(existsSync(file) && parseEnv(readFileSync(file, "utf8"))),
    ...given,
  });
  if (problem !== null) throw new CannotStart(problem);
}
