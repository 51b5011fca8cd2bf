import { isResultPart, resultPartId } from "../../../../src/domain/conversation/tool-calls.ts";
import { field, listField } from "../../../../src/domain/conversation/message.ts";
import type { PromptMessage } from "./sdk.ts";

/**
 * True if the prompt has results of tools before a user's message. These are new if the run ended with them. They are
 * saved if the model answered them: a UI message without `step-start` puts its results behind that answer.
 */
export const mayRepeatResults = (said: readonly PromptMessage[]): boolean =>
  said.some(({ role }, i) => role === "tool" && i < lastOfUser(said));

/** The messages without the results that the thread has, nor a message of approvals that goes with these. */
export function withoutSavedResults(
  said: readonly PromptMessage[],
  stored: readonly object[],
): PromptMessage[] {
  const saved = new Set(stored.flatMap(resultsOf).map(resultPartId));
  const end = lastOfUser(said);
  return said.flatMap((message, i) => {
    if (message.role !== "tool" || i > end) return [message];
    const content = message.content.filter((part) => !isResultPart(part) || !saved.has(resultPartId(part)));
    if (content.length === message.content.length) return [message];
    return content.some(isResultPart) ? [{ ...message, content }] : [];
  });
}

const lastOfUser = (said: readonly PromptMessage[]): number =>
  said.findLastIndex(({ role }) => role === "user");

const resultsOf = (message: object): readonly unknown[] =>
  field(message, "role") === "tool" ? listField(message, "content").filter(isResultPart) : [];
