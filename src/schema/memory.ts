import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import {
  anyJson,
  breaks,
  cursor,
  metadata,
  pageLimit,
  several,
  text,
  timestamp,
  userPath,
} from "./bounds.ts";

export const memoryKind = z.enum(["fact", "episode", "procedure", "reflection"]).openapi("MemoryKind");
export type MemoryKind = z.infer<typeof memoryKind>;

const tag = text(limits.tag, "tag_too_long");
const tags = z
  .array(tag)
  .refine(
    (list) => list.length <= limits.tags,
    breaks("too_many_tags", `holds more than ${limits.tags} tags`),
  )
  .openapi({ example: ["deploy"] });
const score = z.number().min(0).max(1).openapi({ description: "The caller's own weight, 0 to 1." });

export const RememberBody = z
  .strictObject({
    text: text(limits.text, "text_too_long").refine((value) => value.trim() !== "", "holds only white space"),
    kind: memoryKind.optional().openapi({ description: "`fact` unless set." }),
    tags: tags.optional(),
    score: score.optional(),
    metadata: metadata.optional(),
  })
  .openapi("Remember", { example: { text: "Project Foo is deployed on fly.io", tags: ["deploy"] } });
export type RememberBody = z.infer<typeof RememberBody>;

export const Memory = z
  .object({
    id: z.string(),
    userId: z.string(),
    kind: memoryKind,
    text: z.string(),
    tags: z.array(z.string()).optional(),
    score: score.optional(),
    metadata: z.record(z.string(), anyJson).optional(),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .openapi("Memory");
export type Memory = z.infer<typeof Memory>;

export const memoryPath = userPath.extend({
  id: z
    .string()
    .max(64)
    .openapi({ param: { name: "id", in: "path" } }),
});

export const ListMemoriesQuery = z.strictObject({
  kind: several(memoryKind, 4).openapi({ description: "Any of these kinds." }),
  tag: several(tag, limits.tags).openapi({ description: "Every one of these tags." }),
  order: z
    .enum(["asc", "desc"])
    .optional()
    .openapi({ description: "By age; `desc` (newest first) unless set." }),
  limit: pageLimit(50),
  cursor,
});

export const MemoryList = z
  .object({ items: z.array(Memory), cursor: z.string().optional() })
  .openapi("MemoryList");
