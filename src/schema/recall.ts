import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { breaks, text, timestamp } from "./bounds.ts";
import { atBody, memoryFilter } from "./memory-filter.ts";
import { Memory, memoryKind, name } from "./memory.ts";

export const recallKind = z.enum([...memoryKind.options, "message"]).openapi("RecallKind");
export type RecallKind = z.infer<typeof recallKind>;

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
      .omit({ kinds: true, status: true })
      .optional()
      .openapi({ description: "Only memories that it means. Quarantined ones are never recalled." }),
    threadId: z.string().optional().openapi({ description: "Only messages of this thread." }),
    ...atBody,
  })
  .openapi("Recall", { example: { query: "where do I deploy?", k: 5 } });
export type RecallBody = z.infer<typeof RecallBody>;

export const Hit = z
  .object({
    id: z.string().openapi({ description: "The memory's id; of a message, `<threadId>:<seq>`." }),
    kind: recallKind,
    text: z.string(),
    score: z.number().min(0).max(1).openapi({ description: "Best first; comparable within one answer." }),
    why: z
      .object({ lexical: z.int().optional(), vector: z.int().optional() })
      .openapi({ description: "The hit's rank in each arm that found it, from 1." }),
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
    name: z.enum(["lexical", "vector"]),
    status: z
      .enum(["ok", "failed", "off"])
      .openapi({ description: "`off`: the query gave this arm nothing to search by." }),
    candidates: z.int(),
    capped: z.boolean().openapi({
      description:
        "True if there was more than this arm takes in: 200 hits by words; of the vectors, 24 MiB, memories and the newest messages first.",
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
