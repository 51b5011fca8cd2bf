import { type AuditLog, D1AuditLog } from "./d1/audit-log.ts";
import type { Deployment } from "./d1/deployment.ts";
import type { ErasureRecords } from "./d1/erasure-records.ts";
import { D1Jobs, type Jobs } from "./d1/jobs.ts";
import { D1ExtractionSettings, type ExtractionSettings } from "./d1/extraction-settings.ts";
import type { MemoryRecords } from "./d1/memory-records.ts";
import { D1Revocations, type Revocations } from "./d1/revocations.ts";
import { shardedStores } from "./d1/sharded-stores.ts";
import { D1PredicateRules, type PredicateRules } from "./d1/predicate-rules.ts";
import { D1TenantSettings, type TenantSettings } from "./d1/tenant-settings.ts";
import { D1TenantProfiles, type TenantProfiles } from "./d1/tenant-profiles.ts";
import { D1WebhookBreaker, type WebhookBreaker } from "./d1/webhook-breaker.ts";
import { D1TenantModelUsage, type TenantModelUsage } from "./d1/tenant-model-usage.ts";
import { D1SignIns, type SignIns } from "./d1/sign-ins.ts";
import type { ThreadCatalogue } from "./d1/thread-catalogue.ts";
import { type EmbedderBindings, embeddersFromBindings } from "./embeddings/embedders-from-bindings.ts";
import type { Embedder } from "./embeddings/embedder.ts";
import { type Isolate, isolate } from "./isolate.ts";
import { isJurisdiction, jurisdictions } from "./jurisdiction.ts";
import { within } from "./objects-within.ts";
import {
  type ModelQuota,
  modelQuotaOf,
  type QuotaBindings,
  type Quotas,
  quotasOf,
  tenantModelQuotaOf,
} from "./quotas.ts";
import type { UserCatalogue } from "./d1/user-catalogue.ts";
import { DerivedReceiptKey, type ReceiptKey } from "./receipt-key.ts";
import type { CountTokens, TokenizerName } from "../domain/context/tokens.ts";
import type { LanguageModel } from "./models/language-model.ts";
import { type ModelBindings, modelFromBindings } from "./models/model-from-bindings.ts";
import { AnalyticsEngine, type Dataset } from "./metrics/analytics-engine.ts";
import { MeasuredModel } from "./metrics/measured-model.ts";
import { measuredRecords } from "./metrics/measured-records.ts";
import type { Metrics } from "./metrics/metrics.ts";
import type { Traces } from "./traces/traces.ts";
import { type TraceBindings, tracesFromBindings } from "./traces/traces-from-bindings.ts";
import type { Retention } from "../domain/schema/retention.ts";
import type { Lexicon } from "../domain/ranking/lexicon.ts";
import type { Webhook } from "./webhooks/webhook.ts";
import { type WebhookBindings, webhookFromBindings } from "./webhooks/webhook-from-bindings.ts";
import { tokenCounter } from "./tokenizer.ts";
import { RegistryUnlistedThreads, UNLISTED_THREADS, type UnlistedThreads } from "./unlisted-threads.ts";
import { type RecallSettings, recallSettings, type RecallVars } from "./recall-settings.ts";
import { daysOf, QUARANTINE_DAYS } from "./whole-days.ts";
import type { Kernel } from "./vectors/kernel/kernel.ts";
import type { VectorBudget } from "./vectors/vector-budget.ts";
import type { VectorIndex } from "./vectors/vector-index.ts";
import { type VectorizeBinding, VectorizeIndex } from "./vectors/vectorize.ts";

/** The variables that let an identity provider's tokens in. */
export type LoginBindings = {
  /** The URL of the provider's published keys. */
  JWT_JWKS_URL?: string;
  /** The `iss` of its tokens. */
  JWT_ISSUER?: string;
  /** The `aud` that its tokens for this app have; one of several, comma-separated. */
  JWT_AUDIENCE?: string;
  /** The claim that is the user's id here; `sub` unless set. */
  JWT_USER_CLAIM?: string;
  /** The scopes of such a login; `read,write` unless set. */
  JWT_SCOPE?: string;
  /** Shared owners whose memory such a login reads. */
  JWT_SHARED?: string;
};

/** The variables that let people sign in for MCP. */
export type SignInBindings = {
  /** `codes`: by a one-time code that a holder of the scope `admin` hands out. */
  SIGN_IN?: string;
  /** The address of the tenant's OpenID provider: people sign in there. */
  OIDC_ISSUER?: string;
  /** Cairn's registration at it. */
  OIDC_CLIENT_ID?: string;
  OIDC_CLIENT_SECRET?: string;
};

/**
 * The bindings of a deployment: those of wrangler.toml, and those that a deployment may lack. Users may be spread over databases `FACTS_0`, `FACTS_1` and so on; without these, `DB` has them all.
 */
export type Bindings = Omit<
  Cloudflare.Env,
  "CAIRN_SECRET" | "CORS_ORIGINS" | "AI" | "CALLER_RATE" | "USER_RATE" | "REGISTER_RATE"
> &
  EmbedderBindings &
  LoginBindings &
  SignInBindings &
  ModelBindings &
  QuotaBindings &
  WebhookBindings &
  TraceBindings &
  RecallVars & {
    CAIRN_SECRET?: string;
    /** The secret before this one: tokens that it signed still pass. */
    CAIRN_SECRET_PREVIOUS?: string;
    CORS_ORIGINS?: string;
    CALLER_RATE?: RateLimit;
    USER_RATE?: RateLimit;
    /** Counts the apps that one address registers for sign-in. */
    REGISTER_RATE?: RateLimit;
    /** `off`: the three count nothing. */
    RATES?: string;
    /** Days that the audit log goes back; 90 unless set. */
    AUDIT_DAYS?: string;
    /** Days that a memory may wait in quarantine; 30 unless set. */
    QUARANTINE_DAYS?: string;
    /** `off`: no console. `logins`: its users sign in with logins of the identity provider. */
    CONSOLE?: string;
    /** `on`: a cookie keeps the console's session through a reload. */
    CONSOLE_COOKIE?: string;
    VECTORIZE?: VectorizeBinding;
    /** Takes a data point of each call. */
    METRICS?: Dataset;
    /** The jurisdiction of the users' objects: fixed with the first call. */
    JURISDICTION?: string;
  };

/** The services that the Worker and its objects use, built from the bindings here and nowhere else. */
export type Ports = {
  records: MemoryRecords;
  catalogue: ThreadCatalogue;
  /** The threads that the catalogue lacks while D1 is away. */
  unlisted: UnlistedThreads;
  users: UserCatalogue;
  jobs: Jobs;
  revocations: Revocations;
  signIns: SignIns;
  tenantProfiles: TenantProfiles;
  predicates: PredicateRules;
  extraction: ExtractionSettings;
  /** The tenant's rules of retention. */
  retention: TenantSettings<Retention>;
  auditLog: AuditLog;
  deployment: Deployment;
  erasures: ErasureRecords;
  /** Signs what was erased. */
  receipts: ReceiptKey;
  embedder: Embedder;
  /** All others that the bindings can make: what is stored may have vectors of theirs, from before a change. */
  formerEmbedders: readonly Embedder[];
  /** The word model that ranks candidates. Rejects if it is not among the assets. */
  lexicon: () => Promise<Lexicon>;
  /** The same if this isolate has loaded it; null otherwise. */
  loadedLexicon: () => Lexicon | null;
  /** Counts tokens. Rejects if the tokenizer is not among the assets. */
  tokenCounter: (name: TokenizerName) => Promise<CountTokens>;
  /** Extracts memories; null if no model is set. */
  languageModel: LanguageModel | null;
  /** Receives the changes of all users; null if none is set. */
  webhook: Webhook | null;
  webhookBreaker: WebhookBreaker;
  /** Takes the figures of each call; null if no dataset is bound. */
  metrics: Metrics | null;
  /** Takes the traces of calls; null if no collector is set. */
  traces: Traces | null;
  /** Vectorize; null if none is bound. */
  vectors: VectorIndex | null;
  /** The quotas of one user. */
  quotas: Quotas;
  modelQuota: ModelQuota;
  /** The calls of the language model that all users share. */
  tenantModelUsage: TenantModelUsage;
  /** The most bytes that a user's object stores; its deletes may exceed them. */
  storageBytes: number;
  /** The longest wait of a memory in quarantine, in milliseconds. */
  quarantineMs: number;
  recall: RecallSettings;
  /** The most bytes of one model's vectors in the memory of a user's object. */
  vectorBytes: number;
  /** The shared budget for the vectors of all objects of the isolate. */
  vectorBudget: VectorBudget;
  kernel: Kernel;
  now: () => number;
  /** Resolves after `ms` milliseconds. */
  sleep: (ms: number) => Promise<void>;
};

const VECTOR_BYTES = 24 * 1024 * 1024;

/** The platform's limit for an object's SQLite. */
const OBJECT_BYTES = 10_000_000_000;
/**
 * Room kept free in it: an admitted write may be tens of megabytes with its index, and a delete stores rows before it frees
 * some (rows for other stores, tombstones of the word index).
 */
const RESERVED_BYTES = 250_000_000;

/**
 * The ports of an environment, built once in an isolate: each user's object that wakes takes them. `shared`: what the isolate keeps
 * over requests and objects.
 */
export function portsOf(env: Bindings, shared: Isolate = isolate): Ports {
  const known = shared.ports.get(env);
  if (known !== undefined) return known;
  const ports = newPorts(env, shared);
  shared.ports.set(env, ports);
  return ports;
}

function newPorts(env: Bindings, shared: Isolate): Ports {
  const facts = factsOf(env);
  const registry = within(env.PROMPT_CACHE, env.JURISDICTION);
  const metrics = env.METRICS === undefined ? null : new AnalyticsEngine(env.METRICS);
  const model = modelFromBindings(env);
  const stores = shardedStores({
    main: env.DB,
    facts,
    jurisdiction: env.JURISDICTION ?? "",
    bindingsProblem: bindingsProblemOf(env, facts.length),
    known: shared.databaseUses,
  });
  return {
    ...stores,
    ...(metrics !== null && { records: measuredRecords(stores.records, metrics) }),
    unlisted: new RegistryUnlistedThreads(() => registry().getByName(UNLISTED_THREADS)),
    jobs: new D1Jobs(env.DB),
    revocations: new D1Revocations(env.DB),
    signIns: new D1SignIns(env.DB),
    tenantProfiles: new D1TenantProfiles(env.DB),
    predicates: new D1PredicateRules(env.DB, { cache: shared.predicateRules, now: () => Date.now() }),
    extraction: new D1ExtractionSettings(env.DB, { cache: shared.extraction, now: () => Date.now() }),
    retention: new D1TenantSettings(env.DB, "retention"),
    auditLog: new D1AuditLog(env.DB),
    receipts: new DerivedReceiptKey(env.CAIRN_SECRET),
    ...embeddersFromBindings(env, shared),
    lexicon: () => shared.wordModel.get(env.ASSETS),
    loadedLexicon: () => shared.wordModel.loaded,
    tokenCounter: (name) => tokenCounter(name, { tokenizer: shared.tokenizer, assets: env.ASSETS }),
    languageModel: model === null || metrics === null ? model : new MeasuredModel(model, metrics),
    metrics,
    traces: tracesFromBindings(env),
    webhook: webhookFromBindings(env),
    webhookBreaker: new D1WebhookBreaker(env.DB),
    vectors: env.VECTORIZE === undefined ? null : new VectorizeIndex(env.VECTORIZE),
    quotas: quotasOf(env),
    modelQuota: modelQuotaOf(env),
    tenantModelUsage: new D1TenantModelUsage(env.DB, tenantModelQuotaOf(env)),
    storageBytes: OBJECT_BYTES - RESERVED_BYTES,
    quarantineMs: (daysOf(env.QUARANTINE_DAYS) ?? QUARANTINE_DAYS) * 24 * 60 * 60 * 1000,
    recall: recallSettings(env, env.VECTORIZE !== undefined),
    vectorBytes: VECTOR_BYTES,
    vectorBudget: shared.vectors,
    kernel: shared.kernel,
    now: () => Date.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  };
}

/** `FACTS_0` and those that follow it without a gap. */
function factsOf(env: Bindings): D1Database[] {
  // Their number differs by tenant, so no type of the bindings has them.
  const bound = env as unknown as Record<string, D1Database | undefined>;
  const facts: D1Database[] = [];
  for (let next = bound.FACTS_0; next !== undefined; next = bound[`FACTS_${facts.length}`]) facts.push(next);
  return facts;
}

/** A combination of settings that no deployment can have, or null. */
function bindingsProblemOf(env: Bindings, facts: number): string | null {
  const { JURISDICTION: name = "" } = env;
  if (name !== "" && !isJurisdiction(name))
    return `JURISDICTION is '${name}': it is one of ${jurisdictions.join(", ")}, or not set`;
  const beyond = Object.keys(env).find((key) => /^FACTS_\d+$/.test(key) && Number(key.slice(6)) >= facts);
  return beyond === undefined ? null : `${beyond} is bound, and FACTS_${facts} is not`;
}
