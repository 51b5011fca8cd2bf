import { z } from "@hono/zod-openapi";
import { limits } from "../../../domain/limits.ts";
import { boundedInt } from "../../../domain/schema/bounds.ts";
import { RecallBody } from "../../../domain/schema/recall.ts";
import { type MemorySource, name, tags as memoryTags } from "../../../domain/schema/memory-fields.ts";
import { RememberBody } from "../../../domain/schema/memory.ts";

/** Arguments that several tools share: the API's own shapes, described for a model. */

const { subject, predicate, object, title, text } = RememberBody.shape;
const { owners: recallOwners } = RecallBody.shape;
const seq = z.int().min(1);

export const tags = memoryTags;

const SHARED = "The server's instructions list the shared owners.";

export const owners = recallOwners
  .unwrap()
  .describe(
    `Shared owners to search besides the user; all (the first ${limits.owners}) unless set, none if empty. ${SHARED}`,
  );

export const owner = z
  .string()
  .max(limits.userId)
  .optional()
  .describe(`A shared owner (\`shared:…\`) in place of the user. Usually left out. ${SHARED}`);

export const fact = {
  subject: subject
    .unwrap()
    .describe(
      "Who or what the fact is about: `user` for the user themselves, even if their name is known; else a person, a project.",
    ),
  predicate: predicate
    .unwrap()
    .describe("The property, short and always worded alike: `lives in`, `prefers`."),
  object: object.unwrap().describe("The value: `Porto`, `tabs over spaces`."),
};

/** The message of the user that a model writes from. `threadId`: what the citation of a thread does for the memory. */
export const sourceIn = (threadId: string) => ({
  threadId: name.optional().describe(`The thread of this conversation, if it is stored: ${threadId}`),
  message: seq
    .optional()
    .describe("The number of the user's message in the thread; their last one unless set."),
});
type Source = { threadId?: string | undefined; message?: number | undefined };
export const sourceOf = ({ threadId: thread, message }: Source): { source?: MemorySource } =>
  thread === undefined ? {} : { source: { thread, ...(message !== undefined && { message }) } };
export const withThread = <Input extends z.ZodType<Source>>(input: Input): Input =>
  input.refine(({ threadId, message }) => threadId !== undefined || message === undefined, {
    path: ["message"],
    error: "goes with threadId",
  });

export const scope = name.describe("The scope, as listed: a project, an app.");

export const procedureTitle = title.unwrap().describe("The procedure's exact title.");
export const procedureBody = text.unwrap();

/** The largest page. `fittingPage` and `listedThatFit` cut it to one result. */
const PAGE = 50;
export const limit = boundedInt({ min: 1, max: PAGE })
  .optional()
  .describe(`At most this many; 20 unless set, ${PAGE} at most.`);
export const LIMIT = 20;
export const cursor = z.string().optional().describe("From the result before, to continue where it ended.");
