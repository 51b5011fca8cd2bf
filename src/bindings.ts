import type { LoginBindings } from "./auth/login-settings.ts";
import { type AuditLog, D1AuditLog } from "./d1/audit-log.ts";
import { D1Jobs, type Jobs } from "./d1/jobs.ts";
import { D1MemoryRecords, type MemoryRecords } from "./d1/memory-records.ts";
import { D1Revocations, type Revocations } from "./d1/revocations.ts";
import { D1ThreadCatalogue, type ThreadCatalogue } from "./d1/thread-catalogue.ts";
import { type EmbedderBindings, embeddersOf } from "./embeddings/choose.ts";
import { embeddedModel } from "./embeddings/embedded.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { type QuotaBindings, type Quotas, quotasOf } from "./quotas.ts";
import type { Lexicon } from "./memory/ranking/lexicon.ts";
import { type RecallSettings, recallSettings, type RecallVars } from "./recall-settings.ts";
import type { VectorIndex } from "./vectors/vector-index.ts";
import { type VectorizeBinding, VectorizeIndex } from "./vectors/vectorize.ts";

/** What a deployment binds: the default environment's bindings, and those that need an account. */
export type Bindings = Omit<Cloudflare.Env, "CAIRN_SECRET" | "CORS_ORIGINS"> &
  EmbedderBindings &
  LoginBindings &
  QuotaBindings &
  RecallVars & {
    CAIRN_SECRET?: string;
    /** The secret before this one: tokens that it signed still pass. */
    CAIRN_SECRET_PREVIOUS?: string;
    CORS_ORIGINS?: string;
    CALLER_RATE?: RateLimit;
    USER_RATE?: RateLimit;
    /** How many days the audit log goes back; 90 unless set. */
    AUDIT_DAYS?: string;
    VECTORIZE?: VectorizeBinding;
  };

/** What the Worker and its objects work with, made of the bindings here and nowhere else. */
export type Ports = {
  records: MemoryRecords;
  catalogue: ThreadCatalogue;
  jobs: Jobs;
  revocations: Revocations;
  auditLog: AuditLog;
  embedder: Embedder;
  /** All others that the bindings can make: what is stored may have vectors of theirs, from before a change. */
  formerEmbedders: readonly Embedder[];
  /** The word model that ranks what was found. Rejects where it is not among the assets. */
  lexicon: () => Promise<Lexicon>;
  /** The large index beside the one in each object; null where none is bound. */
  vectors: VectorIndex | null;
  /** What one user may hold. */
  quotas: Quotas;
  recall: RecallSettings;
  /** What the vectors of one model may take in the memory of a user's object. */
  vectorBytes: number;
  now: () => number;
};

const VECTOR_BYTES = 24 * 1024 * 1024;

export const portsOf = (env: Bindings): Ports => ({
  records: new D1MemoryRecords(env.DB),
  catalogue: new D1ThreadCatalogue(env.DB),
  jobs: new D1Jobs(env.DB),
  revocations: new D1Revocations(env.DB),
  auditLog: new D1AuditLog(env.DB),
  ...embeddersOf(env),
  lexicon: () => embeddedModel(env.ASSETS),
  vectors: env.VECTORIZE === undefined ? null : new VectorizeIndex(env.VECTORIZE),
  quotas: quotasOf(env),
  recall: recallSettings(env, env.VECTORIZE !== undefined),
  vectorBytes: VECTOR_BYTES,
  now: () => Date.now(),
});
