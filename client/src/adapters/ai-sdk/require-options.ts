import { requireValid, requireUser, isNumberOrUnset } from "../options/require-options.ts";
import type { Names, OptionNames } from "../../known-options.ts";
import type { ConversationOptions } from "./conversation.ts";
import type { RecallingOptions, RecallOptions } from "./options.ts";

const RECALL_OPTIONS: OptionNames<RecallOptions> = {
  answers: true,
  k: true,
  kinds: true,
  tags: true,
  scope: true,
  filter: true,
  threadId: true,
  referenceDate: true,
  timeZone: true,
  timeMode: true,
  minScore: true,
  weights: true,
  owners: true,
  rerank: true,
  window: true,
  explain: true,
  deadlineMs: true,
  asOf: true,
  validAt: true,
};

const RECALLING_OPTIONS: OptionNames<RecallingOptions> = {
  memory: true,
  user: true,
  recall: RECALL_OPTIONS,
  maxTokenBudget: true,
  timeoutMs: true,
  strict: true,
  onError: true,
};

const CONVERSATION_OPTIONS: OptionNames<ConversationOptions> = {
  ...RECALLING_OPTIONS,
  thread: { agent: true },
  history: true,
  save: true,
  turn: true,
};

/**
 * Throws a `TypeError` if the client or the user is missing, or an option is invalid. A programming error is thrown,
 * and not reported to `onError` as an outage.
 */
export function requireRecallingOptions(
  made: string,
  options: RecallingOptions,
  names: Names = RECALLING_OPTIONS,
): void {
  requireUser(made, options, names);
  const { recall, maxTokenBudget, timeoutMs, strict, onError } = options;
  requireValid(
    made,
    { recall: recall === undefined || recall === false || isObject(recall) },
    "an object of options, or false",
  );
  requireValid(made, { maxTokenBudget: isNumberOrUnset(maxTokenBudget, 0) }, "a number from 0 on");
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
  requireRecallingOptions(made, options, CONVERSATION_OPTIONS);
  const { thread, history, save, turn } = options;
  requireValid(
    made,
    { thread: thread === undefined || isText(thread) || (isObject(thread) && isText(thread.agent)) },
    "a thread's id, or { agent } with the agent's name",
  );
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
