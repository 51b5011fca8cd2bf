import { requireValid, requireUser, isNumberOrUnset } from "../options/require-options.ts";
import type { Names, OptionNames } from "../../known-options.ts";
import {
  CONTEXT_CALL_OPTIONS,
  isText,
  requireContextOptions,
  requireThread,
} from "../context/require-context-options.ts";
import type { ConversationOptions } from "./conversation.ts";
import type { MemoryOptions } from "./options.ts";

const MEMORY_OPTIONS: OptionNames<MemoryOptions> = {
  memory: true,
  user: true,
  thread: { agent: true },
  ...CONTEXT_CALL_OPTIONS,
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
  const { thread, context, ...others } = options;
  requireThread(made, thread);
  requireContextOptions(made, { ...others, ...(context !== false && { context }) });
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
