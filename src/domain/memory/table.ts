import { integer, primaryKey, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Provenance, Trust } from "../schema/provenance.ts";
import type { Attributes, MemoryKind, MemorySource, MemoryStatus } from "../schema/memory-fields.ts";

/** Mirrors migrations/, which describe each column. A user's object has the same table for its own rows. */
export const memories = sqliteTable(
  "memories",
  {
    userHash: text("user_hash").notNull(),
    id: text("id").notNull(),
    version: integer("version").notNull(),
    userId: text("user_id").notNull(),
    kind: text("kind").$type<MemoryKind>().notNull(),
    status: text("status").$type<MemoryStatus>().notNull(),
    text: text("text").notNull(),
    title: text("title"),
    subject: text("subject"),
    predicate: text("predicate"),
    object: text("object"),
    key: text("topic_key"),
    subjectNorm: text("subject_norm"),
    predicateNorm: text("predicate_norm"),
    keyNorm: text("key_norm"),
    scope: text("scope"),
    externalId: text("external_id"),
    tags: text("tags", { mode: "json" }).$type<string[]>().notNull(),
    score: real("score"),
    importance: real("importance"),
    source: text("source", { mode: "json" }).$type<MemorySource>(),
    attributes: text("attributes", { mode: "json" }).$type<Attributes>(),
    trust: text("trust").$type<Trust>().notNull(),
    provenance: text("provenance", { mode: "json" }).$type<Provenance>(),
    metadata: text("metadata", { mode: "json" }).$type<Record<string, unknown>>(),
    dedupeKey: text("dedupe_key").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    expiresAt: integer("expires_at"),
    validFrom: integer("valid_from").notNull(),
    validTo: integer("valid_to"),
    recordedAt: integer("recorded_at").notNull(),
    correctedAt: integer("corrected_at"),
    supersededAt: integer("superseded_at"),
    supersededBy: integer("superseded_by"),
  },
  (table) => [primaryKey({ columns: [table.userHash, table.id, table.version] })],
);

/** A version of a memory as D1 and the user's object store it. */
export type MemoryRow = typeof memories.$inferSelect;
