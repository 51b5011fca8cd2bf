import { z } from "@hono/zod-openapi";
import { isWithin, limits } from "../limits.ts";
import { compiled } from "../redaction/pattern.ts";
import { text } from "./bounds.ts";
import { optional, strictShape } from "./described.ts";
import { name } from "./memory-fields.ts";

const topic = text(limits.topic);

export const ExtractionRule = strictShape("ExtractionRule", {
  scope: name.optional().openapi({ description: "Of ingests with this scope; of all unless set." }),
  agent: name.optional().openapi({ description: "Of threads of this agent; of all unless set." }),
  keep: z.array(topic).min(1).max(limits.topics).optional().openapi({
    description: "Topics: the model is told to extract what is about one of these only.",
  }),
  leaveOut: z.array(topic).min(1).max(limits.topics).optional().openapi({
    description: "Topics: the model is told to leave out all that is about one of these.",
  }),
  prompt: text(limits.extractionPrompt).optional().describe("Appended to the prompt of the extraction."),
})
  .refine(
    ({ keep, leaveOut, prompt }) => keep !== undefined || leaveOut !== undefined || prompt !== undefined,
    "sets nothing: it has `keep`, `leaveOut` or `prompt`",
  )
  .openapi({ example: { scope: "clinic", leaveOut: ["politics"] } });
export type ExtractionRule = z.infer<typeof ExtractionRule>;

export const RedactionRule = strictShape("RedactionRule", {
  pattern: text(limits.redactionPattern)
    .superRefine((pattern, context) => {
      const problem = compiled(pattern);
      if (typeof problem === "string") context.addIssue({ code: "custom", message: problem });
    })
    .describe(
      "Characters, `\\d`, `\\w`, `\\s`, sets in brackets, `{n}`, `{n,m}`, `?` and `\\b`, without regard to case. `\\` before a mark stands for the mark.",
    ),
  as: optional(text(limits.redactionText, 0), "Stands in the place of a match; `[redacted]` unless set."),
}).openapi({
  example: { pattern: "\\d{4}[ -]?\\d{4}[ -]?\\d{4}[ -]?\\d{4}", as: "[card]" },
});
export type RedactionRule = z.infer<typeof RedactionRule>;

export const Extraction = z
  .strictObject({
    rules: z.array(ExtractionRule).max(limits.extractionRules).optional().openapi({
      description:
        "The rule with the scope and the agent of an ingest holds, else that with the scope, else that with the agent, else that without either.",
    }),
    redact: z.array(RedactionRule).max(limits.redactions).optional().openapi({
      description: "Applied, one after another, to each text that a call sends, before anything is stored.",
    }),
  })
  .superRefine(({ rules = [] }, context) => {
    if (!isWithin(JSON.stringify(rules), limits.extractionBytes))
      context.addIssue({
        code: "custom",
        path: ["rules"],
        message: `are together longer than ${limits.extractionBytes / 1024} KiB as JSON`,
      });
    const seen = new Set<string>();
    for (const [i, { scope = null, agent = null }] of rules.entries()) {
      const key = JSON.stringify([scope, agent]);
      if (seen.has(key))
        context.addIssue({
          code: "custom",
          path: ["rules", i],
          message: "has the scope and the agent of a rule before it",
        });
      seen.add(key);
    }
  })
  .openapi("Extraction");
export type Extraction = z.infer<typeof Extraction>;

/** Something of it: a call that lost its body takes no rule and no pattern away. */
export const ExtractionBody = Extraction.refine(
  ({ rules, redact }) => rules !== undefined || redact !== undefined,
  "sets nothing: it has `rules` or `redact`; a DELETE takes all away",
).openapi("ExtractionBody");
