// The order of messages that are a list in the export: some lists are not in the order of the conversation.
import type { FoundMessage } from "./source.ts";

/**
 * By time. At equal times: as in the file if its turns alternate from a user's message on; else a question before its
 * answer. A message without a time stays behind the message that it follows in the file.
 */
export function inTimeOrder(messages: readonly FoundMessage[]): FoundMessage[] {
  const moments: { at: number; messages: FoundMessage[]; allDated: boolean }[] = [];
  const byTime = new Map<number, (typeof moments)[number]>();
  let at = -Infinity;
  for (const message of messages) {
    at = message.createdAt ?? at;
    const moment = byTime.get(at) ?? { at, messages: [], allDated: true };
    if (!byTime.has(at)) {
      byTime.set(at, moment);
      moments.push(moment);
    }
    moment.messages.push(message);
    moment.allDated &&= message.createdAt !== undefined;
  }
  return moments
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
    .flatMap((moment) => (moment.allDated ? inTurns(moment.messages) : moment.messages));
}

/** A tool's result follows its call in the file, and has no other place. */
function inTurns(messages: readonly FoundMessage[]): readonly FoundMessage[] {
  const questions = messages.filter(({ message }) => message.role === "user");
  const answers = messages.filter(({ message }) => message.role === "assistant");
  if (questions.length + answers.length < messages.length) return messages;
  const alternate = messages.every(({ message }, i) => message.role === (i % 2 === 0 ? "user" : "assistant"));
  if (alternate) return messages;
  if (questions.length !== answers.length) return [...questions, ...answers];
  return questions.flatMap((question, i) => [question, ...answers.slice(i, i + 1)]);
}
