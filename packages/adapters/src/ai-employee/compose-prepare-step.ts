import type { Instructions, StepStart, SystemOf } from "./instructions.ts";
import { deepMerge } from "./deep-merge.ts";
import { RunInstructions } from "./run-instructions.ts";

/** A `prepareStep` of the AI SDK, of any version and for any tools. */
export type PrepareStep<Options = StepStart> = (options: Options) => Returned | PromiseLike<Returned>;
type Returned = object | null | undefined;

/** The SDK knows the fields that the functions return by their own types. */
export type ComposedPrepareStep<Options = StepStart> = <Given extends Options>(
  options: Given,
) => PromiseLike<Composed<Given> | undefined> | Composed<Given> | undefined;
type Composed<Given> = { system?: SystemOf<Given> };

type Fields = { system?: Instructions; instructions?: Instructions; [field: string]: unknown };
type AnyStep = (options: unknown) => Fields | undefined | PromiseLike<Fields | null | undefined>;

type Rule = (before: unknown, after: unknown) => unknown;

/** The tools that every function allows, in the order of the last function. */
const intersected: Rule = (before, after) => {
  // The AI SDK types `activeTools` as strings.
  const allowed = new Set(before as readonly string[]);
  return (after as readonly string[]).filter((tool) => allowed.has(tool));
};

/** Merges the results of several functions, by field. The last function sets every other field. */
const rules: Readonly<Record<string, Rule>> = {
  activeTools: intersected,
  experimental_context: deepMerge,
  providerOptions: deepMerge,
  // Version 7 of the AI SDK renamed `experimental_context` to this.
  runtimeContext: deepMerge,
  toolsContext: deepMerge,
};

/**
 * Combines several `prepareStep` functions, called in order with the same options. The `system` (and `instructions`)
 * texts are joined, `activeTools` intersected, contexts and `providerOptions` merged deeply. The last function sets any
 * other field (`model`, `toolChoice`, `messages`); for `messages` it warns once, unless NODE_ENV is `production`. Null
 * and undefined functions and results are skipped. The `system` that a function returned at step 0 holds for the run,
 * until that function returns another.
 *
 * @example
 * generateText({ model, prompt, prepareStep: composePrepareStep(permissions, createMemoryPrepareStep(store)) });
 */
export function composePrepareStep<Options extends object = StepStart>(
  ...functions: readonly (PrepareStep<Options> | null | undefined)[]
): ComposedPrepareStep<Options> {
  // The caller and the AI SDK type the arguments and results; here they are opaque objects.
  const steps = functions.filter((step) => typeof step === "function") as readonly AnyStep[];
  const [only] = steps;
  return (only !== undefined && steps.length === 1 ? only : inOrder(steps)) as ComposedPrepareStep<Options>;
}

function inOrder(steps: readonly AnyStep[]): AnyStep {
  let warned = false;
  const runs = new RunInstructions();
  return async (options) => {
    const merged = new Map<string, unknown>();
    const said: (Instructions | undefined)[] = [];
    let saidAs = "system";
    for (const step of steps) {
      const { system, instructions = system, ...others } = (await step(options)) ?? {};
      said.push(instructions);
      if (instructions !== system) saidAs = "instructions";
      for (const [name, value] of Object.entries(others)) {
        if (value === undefined) continue;
        if (name === "messages" && merged.has(name)) {
          if (!warned)
            warn("composePrepareStep: several functions return messages; the last one's are taken");
          warned = true;
        }
        const rule = merged.has(name) ? rules[name] : undefined;
        merged.set(name, rule === undefined ? value : rule(merged.get(name), value));
      }
    }
    // The AI SDK types the options.
    const told = runs.at(options as Partial<StepStart>, said);
    if (told !== undefined) merged.set(saidAs, told);
    return merged.size === 0 ? undefined : Object.fromEntries(merged);
  };
}

function warn(message: string): void {
  // Workers and browsers have no `process`, or one without this.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  if (process?.env?.NODE_ENV !== "production") console.warn(message);
}
