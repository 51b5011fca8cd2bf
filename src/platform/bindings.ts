import { D1AuditLog } from "./d1/audit-log.ts";
import { D1Jobs } from "./d1/jobs.ts";
import { D1ExtractionSettings } from "./d1/extraction-settings.ts";
import { D1Revocations } from "./d1/revocations.ts";
import { shardedStores } from "./d1/sharded-stores.ts";
import { D1PredicateRules } from "./d1/predicate-rules.ts";
import { D1TenantSettings } from "./d1/tenant-settings.ts";
import { D1TenantProfiles } from "./d1/tenant-profiles.ts";
import { D1WebhookBreaker } from "./d1/webhook-breaker.ts";
import { D1TenantModelUsage } from "./d1/tenant-model-usage.ts";
import { D1SignIns } from "./d1/sign-ins.ts";
import { type EmbedderBindings, embeddersFromBindings } from "./embeddings/embedders-from-bindings.ts";
import { type Isolate, isolate } from "./isolate.ts";
import { isJurisdiction, jurisdictions } from "./jurisdiction.ts";
import { within } from "./objects-within.ts";
import { modelQuotaOf, type QuotaBindings, quotasOf, tenantModelQuotaOf } from "./quotas.ts";
import { DerivedReceiptKey } from "./receipt-key.ts";
import type { TokenizerName } from "../domain/context/tokens.ts";
import { type ModelBindings, modelFromBindings } from "./models/model-from-bindings.ts";
import { AnalyticsEngine, type Dataset } from "./metrics/analytics-engine.ts";
import { measuredModel } from "./metrics/measured-model.ts";
import { measuredRecords } from "./metrics/measured-records.ts";
import type { Metrics } from "./metrics/metrics.ts";
import { type TraceBindings, tracesFromBindings } from "./traces/traces-from-bindings.ts";
import type { Retention } from "../domain/schema/retention.ts";
import type { Lexicon } from "../domain/ranking/lexicon.ts";
import { type WebhookBindings, webhookFromBindings } from "./webhooks/webhook-from-bindings.ts";
import { tokenCounter } from "./tokenizer.ts";
import { RegistryUnlistedThreads, UNLISTED_THREADS } from "./unlisted-threads.ts";
import { recallSettings, type RecallVars } from "./recall-settings.ts";
import { daysOf, QUARANTINE_DAYS } from "./whole-days.ts";
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

/** A service as its callers see it: a class by what is public. */
type Port<T> = T extends (...args: never[]) => unknown ? T : T extends object ? Pick<T, keyof T> : T;
type Made = ReturnType<typeof newPorts>;
/** Those that nothing else stands in for. */
type Concrete = "deployment" | "kernel" | "vectorBudget";
/** The services that the Worker and its objects use, built from the bindings here and nowhere else. */
export type Ports = { [Name in keyof Made]: Name extends Concrete ? Made[Name] : Port<Made[Name]> };

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
  // Set below.
  const known = shared.ports.get(env) as Ports | undefined;
  if (known !== undefined) return known;
  const ports = newPorts(env, shared);
  shared.ports.set(env, ports);
  return ports;
}

function newPorts(env: Bindings, shared: Isolate) {
  const facts = factsOf(env);
  const registry = within(env.PROMPT_CACHE, env.JURISDICTION);
  const metrics: Metrics | null = env.METRICS === undefined ? null : new AnalyticsEngine(env.METRICS);
  const model = modelFromBindings(env);
  const vectors: VectorIndex | null = env.VECTORIZE === undefined ? null : new VectorizeIndex(env.VECTORIZE);
  const { records, ...stores } = shardedStores({
    main: env.DB,
    facts,
    jurisdiction: env.JURISDICTION ?? "",
    bindingsProblem: bindingsProblemOf(env, facts.length),
    known: shared.databaseUses,
  });
  return {
    ...stores,
    records: metrics === null ? records : measuredRecords(records, metrics),
    /** The threads that the catalogue lacks while D1 is away. */
    unlisted: new RegistryUnlistedThreads(() => registry().getByName(UNLISTED_THREADS)),
    jobs: new D1Jobs(env.DB),
    revocations: new D1Revocations(env.DB),
    signIns: new D1SignIns(env.DB),
    tenantProfiles: new D1TenantProfiles(env.DB),
    predicates: new D1PredicateRules(env.DB, { cache: shared.predicateRules, now: () => Date.now() }),
    extraction: new D1ExtractionSettings(env.DB, { cache: shared.extraction, now: () => Date.now() }),
    /** The tenant's rules of retention. */
    retention: new D1TenantSettings<Retention>(env.DB, "retention"),
    auditLog: new D1AuditLog(env.DB),
    /** Signs what was erased. */
    receipts: new DerivedReceiptKey(env.CAIRN_SECRET),
    ...embeddersFromBindings(env, shared),
    /** The word model that ranks candidates. Rejects if it is not among the assets. */
    lexicon: (): Promise<Lexicon> => shared.wordModel.get(env.ASSETS),
    /** The same if this isolate has loaded it; null otherwise. */
    loadedLexicon: (): Lexicon | null => shared.wordModel.loaded,
    /** Counts tokens. Rejects if the tokenizer is not among the assets. */
    tokenCounter: (name: TokenizerName) =>
      tokenCounter(name, { tokenizer: shared.tokenizer, assets: env.ASSETS }),
    /** Extracts memories; null if no model is set. */
    languageModel: model === null || metrics === null ? model : measuredModel(model, metrics),
    /** Takes the figures of each call; null if no dataset is bound. */
    metrics,
    /** Takes the traces of calls; null if no collector is set. */
    traces: tracesFromBindings(env),
    /** Receives the changes of all users; null if none is set. */
    webhook: webhookFromBindings(env),
    webhookBreaker: new D1WebhookBreaker(env.DB),
    /** Vectorize; null if none is bound. */
    vectors,
    /** The quotas of one user. */
    quotas: quotasOf(env),
    modelQuota: modelQuotaOf(env),
    /** The calls of the language model that all users share. */
    tenantModelUsage: new D1TenantModelUsage(env.DB, tenantModelQuotaOf(env)),
    /** The most bytes that a user's object stores; its deletes may exceed them. */
    storageBytes: OBJECT_BYTES - RESERVED_BYTES,
    /** The longest wait of a memory in quarantine, in milliseconds. */
    quarantineMs: (daysOf(env.QUARANTINE_DAYS) ?? QUARANTINE_DAYS) * 24 * 60 * 60 * 1000,
    recall: recallSettings(env, vectors !== null),
    /** The most bytes of one model's vectors in the memory of a user's object. */
    vectorBytes: VECTOR_BYTES,
    /** The shared budget for the vectors of all objects of the isolate. */
    vectorBudget: shared.vectors,
    kernel: shared.kernel,
    now: (): number => Date.now(),
    /** Resolves after `ms` milliseconds. */
    sleep: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
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
