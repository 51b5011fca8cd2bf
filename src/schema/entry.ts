import { z } from "@hono/zod-openapi";
import { limits } from "../limits.ts";
import { anyJson, cursor, pageLimit, text, timestamp, userPath, wholeNumber } from "./bounds.ts";

export const key = text(limits.key, "key_too_long").openapi({
  param: { name: "key", in: "path" },
  description: "Any string to 1,024 bytes of UTF-8, percent-encoded; `/` is `%2F`.",
  example: "settings/theme",
});

export const entryPath = userPath.extend({ key });

/** The body of an entry is its JSON value itself. */
export const EntryValue = anyJson.openapi("EntryValue");
export type EntryValue = z.infer<typeof EntryValue>;

const ttl = wholeNumber({ min: 0, max: limits.ttlMs, code: "ttl_too_long" }).optional();

export const SetEntryQuery = z.strictObject({
  ttlMs: ttl.openapi({
    description: "Alive for this many milliseconds; for ever unless set.",
    example: 60_000,
  }),
});

export const ListEntriesQuery = z.strictObject({
  prefix: z
    .string()
    .optional()
    .openapi({ description: "Literal: no character of it has a meaning of its own.", example: "settings/" }),
  values: z.enum(["true", "false"]).optional().openapi({ description: "`true` brings the values along." }),
  limit: pageLimit(100),
  cursor,
});

export const EntryList = z
  .object({
    items: z.array(
      z.object({
        key: z.string(),
        value: anyJson.optional(),
        version: z.string(),
        updatedAt: timestamp,
        expiresAt: timestamp.optional(),
      }),
    ),
    cursor: z.string().optional(),
  })
  .openapi("EntryList");

export const cachePath = z.object({ key });

export const SetCacheQuery = z.strictObject({
  ttlSeconds: wholeNumber({ min: 1, max: limits.ttlMs / 1000, code: "ttl_too_long" })
    .optional()
    .openapi({ description: "Alive for this many seconds; for ever unless set.", example: 300 }),
  lease: z
    .string()
    .optional()
    .openapi({ description: "A lease's id: the value is taken only while that lease is current." }),
});

export const WrittenEntry = z
  .object({
    version: z.string().openapi({ description: "Of this write, as in its ETag." }),
    expiresAt: timestamp.optional(),
  })
  .openapi("WrittenEntry");
export type WrittenEntry = z.infer<typeof WrittenEntry>;
