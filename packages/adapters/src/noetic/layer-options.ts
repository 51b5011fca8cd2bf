import type { z } from "zod";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { RememberBody } from "../../../client/src/shapes.ts";
import { CONTEXT_OPTIONS, type ContextOptions } from "../context/prompt-memory.ts";
import type { TimeLimit } from "../limits/time-limit.ts";
import { requireTimeout, requireUserIfGiven, requireValid } from "../options/require-options.ts";
import type { Turn } from "./turns.ts";

export type FunctionName = "remember" | "recall";
/** Which functions a layer has: all, none, or these. */
export type Provided = boolean | readonly FunctionName[];

export type Timeouts = { init?: number; recall?: number; store?: number };

/** The tokens of a layer, as Noetic takes them: exactly these, from and to, or a share that Noetic chooses. */
export type LayerBudget = number | { min: number; max: number } | "auto";

export type CairnLayerOptions<P extends Provided = true> = TimeLimit & {
  memory: Cairn;
  /** Your zod (4): Noetic requires its schemas for functions, and this package has none. */
  z: typeof z;
  /** The user whose memory it is; unless set, the run's resource, or its thread if it has none. */
  user?: string;
  /** A scope, such as a project; limits both recall and storage to it. */
  scope?: string;
  /** Options of the context; its `budget` is a limit besides that of the layer. */
  context?: Omit<ContextOptions, "scope">;
  /** The tokens of the layer; the context's budget unless set, or 2,000. */
  budget?: LayerBudget;
  /** The layer's place among others; 300 unless set. */
  slot?: number;
  /** `atomic`, unless set, reads the context before each model call; `eventual` once in a run. */
  recallMode?: "atomic" | "eventual";
  /** Timeouts of the hooks in milliseconds: those of `recall` and `store` are `timeoutMs` unless set; `init` calls no server. */
  timeouts?: Timeouts;
  /** `disable` goes on without the layer if the run's resource is no user; `throw`, unless set, ends the run. */
  onInitError?: "throw" | "disable";
  /** The functions `remember` and `recall`: both unless set, none with false, or those of a list. */
  provides?: P;
  /** Converts a turn to a memory, or to null for none; an episode of its texts unless set. */
  toMemory?: (turn: Turn) => RememberBody | null | Promise<RememberBody | null>;
};

const { scope: _scope, ...CONTEXT } = CONTEXT_OPTIONS;
const OPTIONS: OptionNames<CairnLayerOptions<Provided>> = {
  memory: true,
  z: true,
  user: true,
  scope: true,
  context: CONTEXT,
  budget: { min: true, max: true },
  slot: true,
  recallMode: true,
  timeouts: { init: true, recall: true, store: true } satisfies OptionNames<Timeouts>,
  onInitError: true,
  provides: true,
  toMemory: true,
  timeoutMs: true,
};

/** Throws a `TypeError` for an unknown or invalid option. */
export function requireLayerOptions(options: CairnLayerOptions<Provided>): void {
  const made = "cairnLayer";
  requireUserIfGiven(made, options, OPTIONS);
  const { context, budget, slot, recallMode, onInitError, provides, timeouts } = options;
  requireValid(
    made,
    { context: context === undefined || (typeof context === "object" && context !== null) },
    "an object of options",
  );
  requireValid(
    made,
    { budget: isBudget(budget) },
    'a number of tokens, { min, max } of such numbers, or "auto"',
  );
  requireValid(made, { slot: slot === undefined || Number.isFinite(slot) }, "a finite number");
  requireValid(
    made,
    { recallMode: [undefined, "atomic", "eventual"].includes(recallMode) },
    '"atomic" or "eventual"',
  );
  requireValid(
    made,
    { onInitError: [undefined, "throw", "disable"].includes(onInitError) },
    '"throw" or "disable"',
  );
  const { init, recall, store } = timeouts ?? {};
  for (const [name, ms] of Object.entries({ init, recall, store }))
    requireTimeout(made, ms, `timeouts.${name}`);
  requireValid(
    made,
    {
      provides:
        provides === undefined ||
        typeof provides === "boolean" ||
        (Array.isArray(provides) && provides.every((name) => name === "remember" || name === "recall")),
    },
    'true, false, or a list of "remember" and "recall"',
  );
}

function isBudget(budget: unknown): boolean {
  if (typeof budget !== "object" || budget === null)
    return budget === "auto" || budget === undefined || isTokens(budget);
  const { min, max } = budget as { min?: unknown; max?: unknown };
  return isTokens(min) && isTokens(max) && Number(min) <= Number(max);
}

const isTokens = (value: unknown): boolean =>
  typeof value === "number" && value >= 0 && Number.isFinite(value);
