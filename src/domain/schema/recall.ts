import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { candidateKinds } from "../ranking/pool.ts";
import { isTimeZone } from "../ranking/time-span.ts";
import { atMost, overLimit, text, timestamp } from "./bounds.ts";
import { boolean, integer, mark, optional, shape, string } from "./described.ts";
import { atBody, memoryFilter } from "./memory-filter.ts";
import { memoryKind, name } from "./memory-fields.ts";
import { Memory, version } from "./memory.ts";
import { recallId } from "./usage.ts";

export const recallKind = z.enum([...memoryKind.options, "message"]).openapi("RecallKind");
export type RecallKind = z.infer<typeof recallKind>;

/** The parts of a score, which a caller can weigh: `WeightName` in ranking/. */
const eachPart = <T extends z.ZodType>(one: T) => ({
  lexical: one,
  soft: one,
  vector: one,
  speaker: one,
  length: one,
  time: one,
  key: one,
  importance: one,
  recency: one,
  instructions: one,
  statements: one,
});

export const timeMode = z.enum(["auto", "off"]);
export type TimeMode = z.infer<typeof timeMode>;

export const answerable = z.enum(["auto", "strict", "off"]);
export type Answerable = z.infer<typeof answerable>;

/** The filter's conditions that messages can meet. */
export const ofMessages: ReadonlySet<string> = new Set(["createdAtMin", "createdAtMax"]);

/** A field of other filters that is refused here, with the reason. */
const misplaced = (why: string) =>
  z
    .never(why)
    .optional()
    .openapi({ type: "array", items: {}, readOnly: true, description: `Here it ${why}.` });

/** Shared owners that a call searches besides the user. */
export const ownersField = z
  .array(z.string())
  .refine(...atMost(limits.owners))
  .optional();

const recallFields = z.strictObject({
  query: text(limits.query)
    .refine((query) => query.trim() !== "", "holds only white space")
    .describe(
      "A question, a topic or a text, at most 256 KiB. Of a query over 8 KiB, only the first and the last 4 KiB are used, and the answer has `cut`.",
    ),
  k: z
    .int()
    .min(1)
    .refine((k) => k <= limits.k, overLimit(`is larger than ${limits.k}`))
    .optional()
    .openapi({ description: "Maximum number of hits; 10 unless set.", maximum: limits.k }),
  kinds: z.array(recallKind).min(1).optional().openapi({ description: "All kinds unless set." }),
  roles: z.array(text(limits.role)).min(1).max(8).optional().openapi({
    description:
      "Only messages of these roles (`user`, `assistant` …), and memories. `kinds` excludes memories.",
  }),
  tags: optional(
    z.array(text(limits.tag)).refine(...atMost(limits.tags)),
    "Only memories with all of these tags. Messages have no tags.",
  ),
  scope: name.optional().openapi({ description: "Only memories of this scope." }),
  // Repeats the fields: an OpenAPI `allOf` of strict objects refuses every filter.
  filter: z
    .strictObject({
      ...memoryFilter.shape,
      kinds: misplaced("goes beside the filter, as the recall's own `kinds`"),
      status: misplaced("is not for recall: quarantined memories are never recalled"),
    })
    .optional()
    .openapi({ description: "Only memories that match. Quarantined memories are never recalled." }),
  threadId: string("Only messages of this thread.").optional(),
  ...atBody,
  referenceDate: timestamp.optional().openapi({
    description: "The time that “yesterday” and “last week” in the query refer to; now unless set.",
  }),
  answerable: answerable.optional().openapi({
    description:
      "`auto`: for small talk, and if the confidence is below the deployment's threshold, `hits` is empty, `abstained` is true, and `nearest` has the hits. `strict`: the same with a higher threshold, for those who would rather hear nothing than something unrelated. `off` unless set.",
  }),
  timeZone: z.string().refine(isTimeZone, "is no IANA time zone").optional().openapi({
    description:
      "The days, weeks and months that the query names begin in this IANA time zone; UTC unless set.",
    example: "Europe/Lisbon",
  }),
  timeMode: timeMode.optional().openapi({
    description:
      "`auto` unless set: documents of a time that the query names score higher, and facts that were true then are found too, though superseded. `off`: the query's words about a time have no such effect. `asOf` and `validAt` come before the query's words.",
  }),
  minScore: z.number().min(0).max(1).optional().describe("Only hits with at least this score."),
  weights: optional(
    z.strictObject(eachPart(z.number().min(0).max(10).optional())),
    "Factors on the weights of the parts of a score: 0 drops a part, 2 doubles it. `soft`: words of similar meaning. `statements`: what a hit adds to the question, and which of two statements is the later one.",
  ),
  owners: ownersField.describe(
    "Shared owners (`shared:…`) to search together with the user, as far as the token may read them. `userId` of a hit names its owner.",
  ),
  rerank: boolean(
    "Reads the best 30 hits (`k` hits, if `k` is larger) with the deployment's reranker (`RERANKER_MODEL`). Its scores move the hits, and the best one's moves the confidence; `why` still explains the first ranking. The arm `rerank` has the status.",
  ).optional(),
  window: z.int().min(0).max(limits.window).optional().openapi({
    description: "Number of messages on each side of a hit on a message; 1 unless set.",
  }),
  explain: boolean(
    "Each hit says in `why.sentence` why it is where it is, and has the parts of its score in `why.parts` and its features in `why.features`. The answer has `signals`.",
  ).optional(),
  deadlineMs: z.int().min(1).max(limits.recallDeadlineMs).optional().openapi({
    description: "Time limit for Vectorize; 300 unless set. Later results are left out.",
  }),
});

export const RecallBody = recallFields
  .superRefine(({ kinds, roles, scope, tags = [], filter = {}, threadId }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (roles !== undefined && kinds?.includes("message") === false)
      refuse("roles", "applies to messages, which kinds leaves out");
    if (threadId !== undefined && kinds?.includes("message") === false)
      refuse("kinds", "leaves out messages, and a thread has nothing else");
    const only = kinds?.every((kind) => kind === "message") === true || threadId !== undefined;
    const narrowed = {
      scope: scope !== undefined,
      tags: tags.length > 0,
      filter: Object.keys(filter).some((field) => !ofMessages.has(field)),
    };
    for (const [field, given] of Object.entries(narrowed))
      if (only && given) refuse(field, "applies to memories only, and this query asks only for messages");
  })
  .refine(({ owners, threadId }) => owners === undefined || owners.length === 0 || threadId === undefined, {
    path: ["owners"],
    error: "does not go with threadId, which is a thread of the user",
  })
  .openapi("Recall", { example: { query: "where do I deploy?", k: 5 } });
export type RecallBody = z.infer<typeof RecallBody>;

export const Hit = shape("Hit", {
  id: string("The id of the memory; for a message `<threadId>:<seq>`."),
  kind: recallKind,
  text: z.string(),
  passage: z.object({ start: z.int(), end: z.int() }).optional().openapi({
    description:
      "Of a long text: the passage that matches the query best, as offsets in `text` in UTF-16 code units; `end` is not part of it.",
  }),
  score: z.number().min(0).max(1).openapi({
    description: "Best first. Scores are roughly comparable between queries: a poor hit has a low score.",
  }),
  why: z
    .object({
      lexical: z.int().optional(),
      vector: z.int().optional(),
      key: z.literal(true).optional(),
      date: z.literal(true).optional(),
      sentence: string("With `explain`: one plain sentence that says why the hit is where it is.").optional(),
      pair: z.number().optional().openapi({
        description: "With `explain` and `rerank`: the reranker's score of the query and the hit, 0 to 1.",
      }),
      parts: z.object(eachPart(z.number().optional())).optional().openapi({
        description:
          "With `explain`: what each part adds to the sum that orders the hits. The names are those of `weights`.",
      }),
      features: z.record(z.string(), z.number()).optional().openapi({
        description: "With `explain`: the features of the hit that are not 0, each up to 1.",
      }),
      kind: z.enum(candidateKinds).optional().openapi({
        description:
          "With `explain`: which weights apply. `people`: a message between people; `assistant`: between a person and an assistant.",
      }),
    })
    .describe(
      "The rank of the hit in each arm that found it, from 1. `key`: the query names its key, or its subject and predicate. `date`: it is from the time that the query names, or was true then. Empty for a neighbour of a hit. Also empty for a query without searchable words: then the newest documents are the hits, with a score of 0.",
    ),
  ...Memory.omit({
    id: true,
    kind: true,
    text: true,
    score: true,
    status: true,
    indexing: true,
  }).partial().shape,
  supersedes: optional(version, "The version of the same fact that was true before. Left out with `asOf`."),
  supersededBy: version.optional().openapi({
    description: "The version of the same fact that is true after this one. Left out with `asOf`.",
  }),
  replacedAt: timestamp.optional().openapi({
    description:
      "The time of a later statement on the same matter, which names a change: this one seems to be true no more. An estimate by words, of memories and messages without a validity of their own.",
  }),
  ownScore: Memory.shape.score.openapi({ description: "The memory's own `score`." }),
  threadId: z.string().optional(),
  seq: z.int().optional(),
  role: z.string().optional(),
  name: string("The name of the speaker, if the message has one.").optional(),
  cut: mark("The text continues: only the first 32,768 characters of a message are searched and shown."),
  window: z
    .array(
      z.object({
        seq: z.int(),
        role: z.string(),
        name: z.string().optional(),
        text: z.string(),
        cut: mark("The text continues."),
        createdAt: timestamp,
      }),
    )
    .optional()
    .describe("The messages around the hit that have a text, in order, at most 2,000 characters each."),
  createdAt: timestamp,
}).openapi({ description: "A memory with its own fields, or a message." });
export type Hit = z.infer<typeof Hit>;

export const Arm = shape("Arm", {
  name: z.enum(["lexical", "vector", "vectorize", "key", "date", "owners", "rerank"]),
  status: z.enum(["ok", "late", "failed", "off"]).openapi({
    description:
      "`off`: the query has nothing to search by in this arm. For `vectorize` also: the user's object has all vectors in memory, or there is no Vectorize. For `rerank`: there is no reranker.",
  }),
  candidates: z.int(),
  capped: boolean(
    "True if the arm reached its limit. Lexical search has a limit of hits. Vector search has 24 MiB of vectors: memories first, then the newest messages.",
  ),
  ms: integer("Duration by the platform's clock, which advances only during I/O."),
});
export type Arm = z.infer<typeof Arm>;

export const RecallAnswer = shape("RecallAnswer", {
  recallId,
  hits: z.array(Hit),
  arms: z.array(Arm),
  confidence: z.number().min(0).max(1).openapi({
    description: "The estimated probability that the hits hold an answer to the query.",
  }),
  abstained: mark("With `answerable: auto` or `strict`: nothing fits the query."),
  nearest: z.array(Hit).optional().openapi({ description: "If `abstained`: the hits that do not fit." }),
  signals: z.record(z.string(), z.number()).optional().openapi({
    description: "With `explain`: the values that the confidence is computed from.",
  }),
  threshold: z.number().min(0).max(1).optional().openapi({
    description:
      "With `explain`: with a lower confidence, `answerable: auto`, or `strict` if the query says so, returns no hits.",
  }),
  degraded: boolean("True if an arm failed: there may be better hits."),
  cut: mark("The query is over 8 KiB: only its first and last 4 KiB were used."),
  freshness: z.object({ indexed: z.int(), pending: z.int() }).openapi({
    description: "Documents of this user. Pending documents are found by words, not yet by meaning.",
  }),
});
export type RecallAnswer = z.infer<typeof RecallAnswer>;
