import type { OptionNames } from "../../../client/src/known-options.ts";
import { requireTimeout, requireValid } from "../options/require-options.ts";
import type { GuardOptions } from "./guarded.ts";
import { CONTEXT_OPTIONS, type ContextOptions } from "./prompt-memory.ts";

/** Options of an adapter that adds a context to prompts. */
export type ContextCallOptions = GuardOptions & {
  /** Options of the context. */
  context?: ContextOptions;
};

export const CONTEXT_CALL_OPTIONS: OptionNames<ContextCallOptions> = {
  context: CONTEXT_OPTIONS,
  timeoutMs: true,
  strict: true,
  onError: true,
};

type ContextChecked = Pick<ContextCallOptions, "timeoutMs" | "strict"> & {
  context?: unknown;
  onError?: unknown;
};

/** Throws a `TypeError` for an invalid option. A programming error is thrown, and not reported to `onError`. */
export function requireContextOptions(
  made: string,
  { context, timeoutMs, strict, onError }: ContextChecked,
): void {
  requireValid(made, { context: context === undefined || isObject(context) }, "an object of options");
  requireTimeout(made, timeoutMs);
  requireValid(made, { strict: strict === undefined || typeof strict === "boolean" }, "true or false");
  requireValid(made, { onError: onError === undefined || typeof onError === "function" }, "a function");
}

/** Throws a `TypeError` unless `thread` is a thread's id, an agent, or not set. */
export function requireThread(made: string, thread: unknown): void {
  const valid = thread === undefined || isText(thread) || (isObject(thread) && isText(thread.agent));
  requireValid(made, { thread: valid }, "a thread's id, or { agent } with the agent's name");
}

export const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
