import { z } from "@hono/zod-openapi";
import { limits } from "../../../domain/limits.ts";
import { boundedInt } from "../../../domain/schema/bounds.ts";
import { RecallBody } from "../../../domain/schema/recall.ts";
import { name, tags as memoryTags } from "../../../domain/schema/memory-fields.ts";
import { RememberBody } from "../../../domain/schema/memory.ts";

/** Arguments that several tools share: the API's own shapes, described for a model. */

const { subject, predicate, object, title, text } = RememberBody.shape;
const { owners: recallOwners } = RecallBody.shape;

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

export const scope = name.describe("The scope, as listed: a project, an app.");

export const procedureTitle = title.unwrap().describe("The procedure's exact title.");
export const procedureBody = text.unwrap();

/** The largest page. `fittingPage` and `listedThatFit` cut it to one result. */
const PAGE = 50;
export const limit = boundedInt({ min: 1, max: PAGE, code: "page_too_large" })
  .optional()
  .describe(`At most this many; 20 unless set, ${PAGE} at most.`);
export const LIMIT = 20;
export const cursor = z.string().optional().describe("From the result before, to continue where it ended.");
