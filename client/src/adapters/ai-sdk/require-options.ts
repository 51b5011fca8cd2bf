import { requireValid, requireUser, isNumberOrUnset } from "../options/require-options.ts";
import type { Names, OptionNames } from "../../known-options.ts";
import type { ConversationOptions } from "./conversation.ts";
import { CONTEXT_OPTIONS } from "../context/prompt-memory.ts";
import type { MemoryOptions } from "./options.ts";

export const MEMORY_OPTIONS: OptionNames<MemoryOptions> = {
  memory: true,
  user: true,
  thread: { agent: true },
  context: CONTEXT_OPTIONS,
  timeoutMs: true,
  strict: true,
  onError: true,
};

const CONVERSATION_OPTIONS: OptionNames<ConversationOptions> = {
  ...MEMORY_OPTIONS,
  history: true,
  save: true,
  turn: true,
};

/**
 * Throws a `TypeError` if the client or the user is missing, or an option is invalid. A programming error is thrown,
 * and not reported to `onError` as an outage.
 */
export function requireMemoryOptions(
  made: string,
  options: MemoryOptions,
  names: Names = MEMORY_OPTIONS,
): void {
  requireUser(made, options, names);
  const { thread, context, timeoutMs, strict, onError } = options;
  requireValid(
    made,
    { thread: thread === undefined || isText(thread) || (isObject(thread) && isText(thread.agent)) },
    "a thread's id, or { agent } with the agent's name",
  );
  requireValid(
    made,
    { context: context === undefined || context === false || isObject(context) },
    "an object of options, or false",
  );
  requireValid(
    made,
    { timeoutMs: isNumberOrUnset(timeoutMs, 1, MAX_TIMEOUT_MS) },
    `a number from 1 to ${MAX_TIMEOUT_MS}`,
  );
  requireValid(made, { strict: strict === undefined || typeof strict === "boolean" }, "true or false");
  requireValid(made, { onError: onError === undefined || typeof onError === "function" }, "a function");
}

/** Checks the options of the middleware likewise. */
export function requireConversationOptions(made: string, options: ConversationOptions): void {
  requireMemoryOptions(made, options, CONVERSATION_OPTIONS);
  const { thread, history, save, turn } = options;
  const whole = history === undefined || Number.isInteger(history);
  requireValid(
    made,
    { history: whole && isNumberOrUnset(history, 0, 1_000) },
    "a whole number from 0 to 1000",
  );
  requireValid(
    made,
    { history: !history || thread !== undefined },
    "left out without `thread`: the history is that of a thread",
  );
  requireValid(made, { save: [undefined, true, false, "later"].includes(save) }, 'true, false or "later"');
  requireValid(made, { turn: turn === undefined || isText(turn) }, "a text that is not empty");
}

/** The longest delay of a timer. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
