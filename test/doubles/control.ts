import { loseHeld } from "./held-writes.ts";
import type { LanguageModel } from "../../src/platform/models/language-model.ts";
import type { Metrics } from "../../src/platform/metrics/metrics.ts";
import type { Webhook } from "../../src/platform/webhooks/webhook.ts";
import type { ModelQuota, Quotas } from "../../src/platform/quotas.ts";
import type { VectorBudget } from "../../src/platform/vectors/vector-budget.ts";
import type { EmbedAs } from "../../src/platform/embeddings/embedder.ts";

/**
 * The controls that the tests turn in the Worker under test: tests and Worker share one isolate, and so this object. A test
 * puts back what it turns (`restore`).
 */
export const control = {
  /** Added to the clock of the Worker and of its objects, in milliseconds. */
  clockAhead: 0,
  /** Stops the clock at this time. */
  clockAt: null as number | null,
  /**
   * Makes D1's writes fail: `before` nothing happens, `after` all of it does and the answer is lost, `late` it is lost
   * and all of it happens when the test lets held writes land; `hang`, `hang-after` and `hang-late` are the same for a
   * caller that dies waiting; `full` and `refused` let only puts fail, as D1 does.
   */
  d1Writes: "ok" as D1Write,
  /** The outcomes of the next writes, one after another, before `d1Writes` holds. */
  d1NextWrites: [] as D1Write[],
  /** The outcome of the marks of threads that the catalogue does not have. */
  unlisted: "ok" as "ok" | "fail" | "hang",
  /** The outcome of all questions to D1 about revoked tokens. */
  revocations: "ok" as "ok" | "fail" | "hang",
  signIns: "ok" as "ok" | "fail" | "hang",
  /** The same of the tenant's rules of extraction. */
  extraction: "ok" as "ok" | "fail" | "hang",
  /** The same of the tenant's rules of retention. */
  retention: "ok" as "ok" | "fail" | "hang",
  /** The same of the audit log. */
  auditLog: "ok" as "ok" | "fail" | "hang",
  /** Called before each event is written. */
  duringAuditWrite: (_action: string): void => {},
  d1Reads: "ok" as "ok" | "fail",
  /** Called inside D1's reads, once they have their answer. */
  duringD1Read: async (): Promise<void> => {},
  /** The most characters that the alarm embeds; null: as many as the model takes. */
  batchCharacters: null as number | null,
  /** `wrong`: the embedder asks a service that answers vectors of another shape. */
  embedder: "ok" as "ok" | "fail" | "hang" | "wrong",
  /** The requests that it got. */
  embedded: [] as { texts: readonly string[]; as: EmbedAs }[],
  /** The embedder has its model in memory, and appended messages get their vectors at once. */
  embedsNow: false,
  /** Objects that begin while this is on have no embedder: `EMBEDDINGS_MODEL` names none. */
  misnamed: false,
  /** The embedder is one of another space, which is the former one when this is off. */
  formerModel: false,
  lexicon: "ok" as "ok" | "fail",
  tokenizer: "ok" as "ok" | "fail",
  /** The reranker that `bindReranker` has bound. */
  reranker: "ok" as "ok" | "fail" | "hang",
  /** The indexing of messages by objects that begin now, and the bytes of vectors that they hold in memory (null: as usual). */
  messageIndexing: "full" as "lexical" | "full" | "vectorize",
  vectorBytes: null as number | null,
  /** The budget for vectors in memory that objects that begin now share; null: the isolate's. */
  vectorBudget: null as VectorBudget | null,
  /** A text that the embedder refuses, and with it the whole batch that it is in. */
  unembeddable: null as string | null,
  /** Called inside the embedder, before it embeds. */
  duringEmbed: async (): Promise<void> => {},
  /** Called inside D1's writes, before they happen: a place to hold them or to look at what is going on. */
  duringD1Write: async (): Promise<void> => {},
  /** The time that a write takes to show once Vectorize has accepted it, in milliseconds of the clock above. */
  vectorizeLag: 0,
  /**
   * The outcome of Vectorize's writes: `before` nothing happens, `after` it is accepted and the answer is lost, `hang`
   * and `hang-after` the same without an answer; `late` it is accepted, and carried out after `vectorizeLate`, later
   * writes before it; `twice` it is carried out in its turn, and after `vectorizeLate` once more.
   */
  vectorizeWrites: "ok" as "ok" | "before" | "after" | "hang" | "hang-after" | "late" | "twice",
  /** The delay, in milliseconds. */
  vectorizeLate: 4 * 60_000,
  /** The outcome of Vectorize's reads. `stale`: a query also brings what was deleted, and brings its best hit twice. */
  vectorizeReads: "ok" as "ok" | "fail" | "hang" | "stale",
  /** Called inside Vectorize's writes, before they happen. */
  duringVectorizeWrite: async (): Promise<void> => {},
  /** The quotas of one user. */
  quotas: { entries: null, memories: null, threads: null, bytes: null } as Quotas,
  /** The model that extracts, of objects that begin now. */
  languageModel: null as LanguageModel | null,
  /** Receives the changes, of objects that begin now. */
  webhook: null as Webhook | null,
  /** Takes the figures. A Worker has those that were set when it was built; an object, those that are set. */
  metrics: null as Metrics | null,
  /** The calls and tokens of the model that one user has in a day. */
  modelQuota: { calls: null, tokens: null } as ModelQuota,
  /** Those that all users share in a day, and D1's answer to who counts them. */
  tenantModelQuota: { calls: null, tokens: null } as ModelQuota,
  tenantModelUsage: "ok" as "ok" | "fail" | "hang",
  /** The storage that a user's object may take; null: as much as the platform lets it. */
  storageBytes: null as number | null,
  /** The number of transactions of a user's object that throw, from now on: with what they did, they are undone. */
  failingTransactions: 0,
  /** Their message. */
  transactionFailure: "the disk failed",
  /** The number that go well before those. */
  goodTransactions: 0,
  /** True if a user's object dies when it has deleted its storage. */
  diesAfterDeleteAll: false,
  /** True if a user's object cannot ask for an earlier state. */
  bookmarkRefused: false,
  /** True for a write to D1 that hangs, which it does for good. */
  hanging: false,
};

export type D1Write =
  | "ok"
  | "before"
  | "after"
  | "late"
  | "hang"
  | "hang-after"
  | "hang-late"
  | "full"
  | "refused";

/**
 * Each test begins here, at noon of a Wednesday: by the real clock this is so far ahead that no alarm rings by itself.
 * Its month has 31 days, and so have the months around it.
 */
export const START = Date.UTC(2090, 6, 12, 12);

let reads = 0;

/**
 * The time by the clock of the Worker under test. Each reading is a millisecond later than the one before, so that what
 * is written later is newer. What must not depend on the number of readings stops it: `control.clockAt = clock()`.
 */
export const clock = (): number => control.clockAt ?? START + control.clockAhead + reads++;

/** Lets time pass by that clock. */
export function advance(ms: number): void {
  if (control.clockAt === null) control.clockAhead += ms;
  else control.clockAt += ms;
}

const untouched = { ...control };
export const restore = (): void => {
  Object.assign(control, untouched, { d1NextWrites: [], embedded: [] });
  loseHeld();
};
