import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { ContextLayer } from "../../domain/schema/context.ts";
import type { PredicateRule } from "../../domain/schema/predicate.ts";

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
  /** The number of erasures of the user before this write. */
  epoch: integer("epoch").notNull(),
});

/** A thread in the catalogue. */
export type ThreadRow = typeof threads.$inferSelect;

/** Jobs that take several runs of the cron. */
export const jobs = sqliteTable("jobs", {
  name: text("name").primaryKey(),
  detail: text("detail").notNull(),
  position: text("position").notNull(),
  done: integer("done").notNull(),
  startedAt: integer("started_at").notNull(),
  finishedAt: integer("finished_at"),
});

export type JobRow = typeof jobs.$inferSelect;

/** Tokens that are refused before they expire. */
export const revokedTokens = sqliteTable("revoked_tokens", {
  tokenId: text("token_id").primaryKey(),
  expiresAt: integer("expires_at").notNull(),
  revokedAt: integer("revoked_at").notNull(),
});

export type RevokedTokenRow = typeof revokedTokens.$inferSelect;

/** At most one row: tokens issued earlier are refused. */
export const tokenFloor = sqliteTable("token_floor", {
  id: integer("id").primaryKey(),
  minIssuedAt: integer("min_issued_at").notNull(),
});

/** Lists of layers of a context, which all users can name. */
export const contextProfiles = sqliteTable("context_profiles", {
  name: text("name").primaryKey(),
  layers: text("layers", { mode: "json" }).$type<ContextLayer[]>().notNull(),
});

/** Rules of predicates. `name`: normalised. */
export const predicates = sqliteTable("predicates", {
  name: text("name").primaryKey(),
  cardinality: text("cardinality").$type<PredicateRule["cardinality"]>().notNull(),
  policy: text("policy").$type<PredicateRule["policy"]>().notNull(),
  opposites: text("opposites", { mode: "json" }).$type<string[]>().notNull(),
});

/** Events: actor, action, user, time. */
export const audit = sqliteTable("audit", {
  id: text("id").primaryKey(),
  at: integer("at").notNull(),
  action: text("action").notNull(),
  outcome: text("outcome").notNull(),
  actor: text("actor"),
  tokenId: text("token_id"),
  userHash: text("user_hash"),
  requestId: text("request_id"),
  about: text("about"),
  count: integer("count").notNull(),
});

export type AuditRow = typeof audit.$inferSelect;
