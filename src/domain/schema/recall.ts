import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { breaks, text, timestamp } from "./bounds.ts";
import { atBody, memoryFilter } from "./memory-filter.ts";
import { memoryKind, name } from "./memory-fields.ts";
import { Memory } from "./memory.ts";

export const recallKind = z.enum([...memoryKind.options, "message"]).openapi("RecallKind");
export type RecallKind = z.infer<typeof recallKind>;

/** The parts of a score that a caller can weigh, and is told of: `WeightName` in memory/ranking. */
const eachPart = <T extends z.ZodType>(one: T) => ({
  lexical: one,
  soft: one,
  vector: one,
  speaker: one,
  time: one,
  key: one,
  importance: one,
  recency: one,
});

/** The fields of a filter that messages have too. */
export const ofMessages: ReadonlySet<string> = new Set(["createdAtMin", "createdAtMax"]);

/** A field of other filters that a recall's has not, and says why. */
const misplaced = (why: string) =>
  z
    .never(why)
    .optional()
    .openapi({ type: "array", items: {}, readOnly: true, description: `Here it ${why}.` });

const recallFields = z.strictObject({
  query: text(limits.query, "query_too_long")
    .refine((query) => query.trim() !== "", "holds only white space")
    .openapi({
      description:
        "A question, a topic or a text, to 256 KiB. Of more than 8 KiB, the first and the last 4 KiB are searched by, and the answer says `cut`.",
    }),
  k: z
    .int()
    .min(1)
    .refine((k) => k <= limits.k, breaks("k_too_large", `is larger than ${limits.k}`))
    .optional()
    .openapi({ description: "How many hits at most; 10 unless set.", maximum: limits.k }),
  kinds: z.array(recallKind).min(1).optional().openapi({ description: "All kinds unless set." }),
  tags: z
    .array(text(limits.tag, "tag_too_long"))
    .refine((list) => list.length <= limits.tags, breaks("too_many_tags", `holds more than ${limits.tags}`))
    .optional()
    .openapi({ description: "Only memories that carry every one of these; messages carry none." }),
  scope: name.optional().openapi({ description: "Only memories of this scope." }),
  // Not an extension of the filter, which lets no further field pass: the document would say that nothing fits.
  filter: z
    .strictObject({
      ...memoryFilter.shape,
      kinds: misplaced("goes beside the filter, as the recall's own `kinds`"),
      status: misplaced("is not for recall: quarantined memories are never recalled"),
    })
    .optional()
    .openapi({ description: "Only memories that it means. Quarantined ones are never recalled." }),
  threadId: z.string().optional().openapi({ description: "Only messages of this thread." }),
  ...atBody,
  referenceDate: timestamp.optional().openapi({
    description: "What “yesterday” and “last week” in the query are in relation to; now unless set.",
  }),
  minScore: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .openapi({ description: "Only hits with this score or more." }),
  weights: z
    .strictObject(eachPart(z.number().min(0).max(10).optional()))
    .optional()
    .openapi({
      description:
        "Factors on what the parts of a score usually weigh: 0 leaves one out, 2 doubles it. `soft`: words of similar meaning.",
    }),
  owners: z
    .array(z.string())
    .refine(
      (list) => list.length <= limits.owners,
      breaks("too_many_owners", `holds more than ${limits.owners}`),
    )
    .optional()
    .openapi({
      description:
        "Shared owners (`shared:…`) whose memory is searched together with the user's, as far as the token may read it. Each hit says in `userId` whose it is.",
    }),
  rerank: z.boolean().optional().openapi({
    description:
      "Reads the best 30 (`k`, if more are asked for) again with the deployment's reranker (`RERANKER_MODEL`), whose order and scores the hits then have; `why` tells how they were found before. The arm `rerank` says whether it did.",
  }),
  window: z.int().min(0).max(limits.window).optional().openapi({
    description: "How many messages on each side a hit on a message brings along; 1 unless set.",
  }),
  explain: z
    .boolean()
    .optional()
    .openapi({ description: "Each hit says in `why.parts` what its score is made of." }),
  deadlineMs: z.int().min(1).max(limits.recallDeadlineMs).optional().openapi({
    description: "How long Vectorize may take, where it is asked; 300 unless set. What is late is left out.",
  }),
});

export const RecallBody = recallFields
  .superRefine(({ kinds, scope, tags = [], filter = {}, threadId }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (threadId !== undefined && kinds?.includes("message") === false)
      refuse("kinds", "leaves out messages, and a thread has nothing else");
    const only = kinds?.every((kind) => kind === "message") === true || threadId !== undefined;
    const narrowed = {
      scope: scope !== undefined,
      tags: tags.length > 0,
      filter: Object.keys(filter).some((field) => !ofMessages.has(field)),
    };
    for (const [field, given] of Object.entries(narrowed))
      if (only && given) refuse(field, "is of memories: no message has it, and nothing else is asked for");
  })
  .refine(({ owners, threadId }) => owners === undefined || owners.length === 0 || threadId === undefined, {
    path: ["owners"],
    error: "does not go with threadId, which is a thread of the user",
  })
  .openapi("Recall", { example: { query: "where do I deploy?", k: 5 } });
export type RecallBody = z.infer<typeof RecallBody>;

export const Hit = z
  .object({
    id: z.string().openapi({ description: "The memory's id; of a message, `<threadId>:<seq>`." }),
    kind: recallKind,
    text: z.string(),
    score: z.number().min(0).max(1).openapi({
      description:
        "Best first. Roughly comparable between queries too: what answers none of a query well has a low one.",
    }),
    why: z
      .object({
        lexical: z.int().optional(),
        vector: z.int().optional(),
        key: z.literal(true).optional(),
        date: z.literal(true).optional(),
        parts: z.object(eachPart(z.number().optional())).optional().openapi({
          description: "With `explain`: what each part adds to the score. The names are those of `weights`.",
        }),
      })
      .openapi({
        description:
          "The hit's rank in each arm that found it, from 1; `key`: the query names its key, or its subject and predicate; `date`: it is of the time that the query names. Empty for a neighbour of what was found, and where the query has nothing to search by: then the newest are the hits, with a score of 0.",
      }),
    ...Memory.omit({
      id: true,
      kind: true,
      text: true,
      score: true,
      status: true,
      indexing: true,
    }).partial().shape,
    ownScore: Memory.shape.score.openapi({ description: "The memory's own `score`." }),
    threadId: z.string().optional(),
    seq: z.int().optional(),
    role: z.string().optional(),
    name: z.string().optional().openapi({ description: "Of who said it, where the message has one." }),
    cut: z.literal(true).optional().openapi({
      description:
        "There is more of the message: of a message's text, the first 32 KiB are searched and shown.",
    }),
    window: z
      .array(
        z.object({
          seq: z.int(),
          role: z.string(),
          name: z.string().optional(),
          text: z.string(),
          cut: z.literal(true).optional().openapi({ description: "There is more of it." }),
          createdAt: timestamp,
        }),
      )
      .optional()
      .openapi({
        description:
          "The messages around it that have a text, in their order; of each 2,000 characters at most.",
      }),
    createdAt: timestamp,
  })
  .openapi("Hit", { description: "A memory with its own fields, or a message." });
export type Hit = z.infer<typeof Hit>;

export const Arm = z
  .object({
    name: z.enum(["lexical", "vector", "vectorize", "key", "date", "owners", "rerank"]),
    status: z.enum(["ok", "late", "failed", "off"]).openapi({
      description:
        "`off`: the query gave this arm nothing to search by; of `vectorize` also: the user's object holds all vectors in memory, or there is no Vectorize; of `rerank`: there is no reranker.",
    }),
    candidates: z.int(),
    capped: z.boolean().openapi({
      description:
        "True if there was more than this arm takes in: its share of hits by words; of the vectors, 24 MiB, memories and the newest messages first.",
    }),
    ms: z.int().openapi({
      description:
        "How long it took by the clock of the platform, which stands still while nothing is waited for.",
    }),
  })
  .openapi("Arm");
export type Arm = z.infer<typeof Arm>;

export const RecallAnswer = z
  .object({
    hits: z.array(Hit),
    arms: z.array(Arm),
    degraded: z.boolean().openapi({ description: "True if an arm failed: there may be better hits." }),
    cut: z.literal(true).optional().openapi({
      description: "The query is longer than 8 KiB: its first and its last 4 KiB were searched by.",
    }),
    freshness: z.object({ indexed: z.int(), pending: z.int() }).openapi({
      description: "Documents of this user; `pending` ones are found by words, not yet by meaning.",
    }),
  })
  .openapi("RecallAnswer");
export type RecallAnswer = z.infer<typeof RecallAnswer>;

export const TenantRecallBody = recallFields
  .omit({
    threadId: true,
    referenceDate: true,
    weights: true,
    owners: true,
    rerank: true,
    window: true,
    explain: true,
  })
  .openapi("TenantRecall", { example: { query: "who asked for a refund?", k: 5 } });
export type TenantRecallBody = z.infer<typeof TenantRecallBody>;

export const TenantRecallAnswer = RecallAnswer.omit({ freshness: true }).openapi("TenantRecallAnswer", {
  description: "`score` is the cosine of the query and what was found; `userId` says whose it is.",
});
export type TenantRecallAnswer = z.infer<typeof TenantRecallAnswer>;
