import { demandUser } from "../options/demand.ts";
import type { ConversationOptions } from "./conversation.ts";
import type { RecallingOptions } from "./options.ts";

/**
 * Throws a `TypeError` where middleware and step are made without a client or a user, or with an option that has a value it
 * cannot have. What is wrong with a program is not told to `onError` as an outage.
 */
export function demandRecalling(made: string, options: RecallingOptions): void {
  demandUser(made, options);
  const { recall, maxTokenBudget, timeoutMs, strict, onError } = options;
  demand(
    made,
    { recall: recall === undefined || recall === false || isObject(recall) },
    "an object of options, or false",
  );
  demand(made, { maxTokenBudget: isNumber(maxTokenBudget, 0) }, "a number from 0 on");
  demand(made, { timeoutMs: isNumber(timeoutMs, 1, MAX_TIMEOUT_MS) }, `a number from 1 to ${MAX_TIMEOUT_MS}`);
  demand(made, { strict: strict === undefined || typeof strict === "boolean" }, "true or false");
  demand(made, { onError: onError === undefined || typeof onError === "function" }, "a function");
}

/** The same of all that a middleware takes. */
export function demandConversation(made: string, options: ConversationOptions): void {
  demandRecalling(made, options);
  const { thread, history, save, turn } = options;
  demand(
    made,
    { thread: thread === undefined || isText(thread) || (isObject(thread) && isText(thread.agent)) },
    "a thread's id, or { agent } with the agent's name",
  );
  const whole = history === undefined || Number.isInteger(history);
  demand(made, { history: whole && isNumber(history, 0, 1_000) }, "a whole number from 0 to 1000");
  demand(
    made,
    { history: !history || thread !== undefined },
    "left out where there is no thread that it could be read from",
  );
  demand(made, { save: [undefined, true, false, "later"].includes(save) }, 'true, false or "later"');
  demand(made, { turn: turn === undefined || isText(turn) }, "a text that is not empty");
}

/** What timers take. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

function demand(made: string, fits: Record<string, boolean>, what: string): void {
  for (const [name, fine] of Object.entries(fits)) if (!fine) throw wrong(made, name, what);
}

const wrong = (made: string, name: string, what: string): TypeError =>
  new TypeError(`${made}: ${name} must be ${what}`);

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null;
const isNumber = (value: unknown, min: number, max = Infinity): boolean =>
  value === undefined || (typeof value === "number" && value >= min && value <= max);
