import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { MemoryKind } from "../schema/memory.ts";

/** Mirrors migrations/; what each column means is said there. */
export const memories = sqliteTable(
  "memories",
  {
    userHash: text("user_hash").notNull(),
    id: text("id").notNull(),
    userId: text("user_id").notNull(),
    kind: text("kind").$type<MemoryKind>().notNull(),
    text: text("text").notNull(),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    score: real("score"),
    metadata: text("metadata", { mode: "json" }).$type<Record<string, unknown>>(),
    dedupeKey: text("dedupe_key").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.userHash, table.id] })],
);

/** A memory as D1 keeps it. */
export type MemoryRow = typeof memories.$inferSelect;

export const threads = sqliteTable("threads", {
  id: text("id").primaryKey(),
  userHash: text("user_hash").notNull(),
  userId: text("user_id"),
  title: text("title").notNull(),
  agent: text("agent"),
  resourceSlug: text("resource_slug"),
  recordId: text("record_id"),
  metadata: text("metadata", { mode: "json" }).$type<Record<string, unknown>>(),
  createdAt: integer("created_at").notNull(),
  updatedAt: integer("updated_at").notNull(),
});

/** A thread as the catalogue keeps it. */
export type ThreadRow = typeof threads.$inferSelect;
