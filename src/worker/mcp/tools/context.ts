import { z } from "@hono/zod-openapi";
import { limits } from "../../../domain/limits.ts";
import { ContextBody } from "../../../domain/schema/context.ts";
import { context } from "../../use-cases/context.ts";
import { isReadOnly } from "../access.ts";
import { READS, textResult, tool } from "../tool.ts";

const { query, threadId, scope } = ContextBody.shape;
/** Four characters each: as long as a result may be. */
const MOST_TOKENS = 6_000;

export const memoryContext = tool({
  name: "memory_context",
  title: "Get the memory for a task",
  description:
    "Get what is remembered about the user and about a task in one text: who the user is, facts, what was said that bears on it. Use it once at the beginning of a conversation or a task; use memory_recall for a single question.",
  scope: "read",
  owner: "user",
  annotations: READS,
  input: z.strictObject({
    query: query.describe("The user's message or the task, in plain words."),
    threadId: threadId.describe("The thread of this conversation, if it is stored."),
    scope: scope.describe("Only memories of this scope, such as a project."),
    budget: z
      .int()
      .min(limits.contextTokensMin)
      .max(MOST_TOKENS)
      .optional()
      .describe(`At most so many tokens; 2,000 unless set, ${limits.contextTokensMin} to ${MOST_TOKENS}.`),
  }),
  run: async ({ services, access }, asked) => {
    const answer = await context(services, access.user, asked, { readOnly: isReadOnly(access) });
    if (!answer.ok) return answer;
    const { stable, recalled } = answer.value.answer;
    const text = [stable.text, recalled.text].filter((block) => block !== "").join("\n\n");
    return textResult(text === "" ? "Nothing is remembered that bears on it." : text);
  },
});
