import { requireValid, isNumberOrUnset } from "../options/require-options.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import { MEMORY_OPTIONS, requireMemoryOptions } from "../context/memory-options.ts";
import { isText } from "../context/require-context-options.ts";
import type { ConversationOptions } from "./conversation.ts";

const CONVERSATION_OPTIONS: OptionNames<ConversationOptions> = {
  ...MEMORY_OPTIONS,
  history: true,
  save: true,
  turn: true,
};

/** Throws a `TypeError` if an option of the middleware is invalid. */
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
