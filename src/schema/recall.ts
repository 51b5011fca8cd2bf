import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { breaks, text, timestamp } from "./bounds.ts";
import { atBody, memoryFilter } from "./memory-filter.ts";
import { Memory, memoryKind, name } from "./memory.ts";

export const recallKind = z.enum([...memoryKind.options, "message"]).openapi("RecallKind");
export type RecallKind = z.infer<typeof recallKind>;

const factor = z.number().min(0).max(10).optional();

/** A field of other filters that a recall's has not, and says why. */
const misplaced = (why: string) =>
  z
    .never(why)
    .optional()
    .openapi({ type: "array", items: {}, readOnly: true, description: `Here it ${why}.` });

export const RecallBody = z
  .strictObject({
    query: text(limits.query, "query_too_long"),
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
    filter: memoryFilter
      .extend({
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
      .strictObject({
        lexical: factor,
        soft: factor,
        vector: factor,
        speaker: factor,
        time: factor,
        key: factor,
        importance: factor,
        recency: factor,
      })
      .optional()
      .openapi({
        description:
          "Factors on what the parts of a score usually weigh: 0 leaves one out, 2 doubles it. `soft`: words of similar meaning.",
      }),
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
      .object({ lexical: z.int().optional(), vector: z.int().optional(), key: z.literal(true).optional() })
      .openapi({
        description:
          "The hit's rank in each arm that found it, from 1; `key`: the query names its key. Empty for a neighbour of what was found.",
      }),
    ...Memory.omit({
      id: true,
      userId: true,
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
    createdAt: timestamp,
  })
  .openapi("Hit", { description: "A memory with its own fields, or a message." });
export type Hit = z.infer<typeof Hit>;

export const Arm = z
  .object({
    name: z.enum(["lexical", "vector", "key"]),
    status: z
      .enum(["ok", "failed", "off"])
      .openapi({ description: "`off`: the query gave this arm nothing to search by." }),
    candidates: z.int(),
    capped: z.boolean().openapi({
      description:
        "True if there was more than this arm takes in: its share of hits by words; of the vectors, 24 MiB, memories and the newest messages first.",
    }),
  })
  .openapi("Arm");
export type Arm = z.infer<typeof Arm>;

export const RecallAnswer = z
  .object({
    hits: z.array(Hit),
    arms: z.array(Arm),
    degraded: z.boolean().openapi({ description: "True if an arm failed: there may be better hits." }),
    freshness: z.object({ indexed: z.int(), pending: z.int() }).openapi({
      description: "Documents of this user; `pending` ones are found by words, not yet by meaning.",
    }),
  })
  .openapi("RecallAnswer");
export type RecallAnswer = z.infer<typeof RecallAnswer>;
