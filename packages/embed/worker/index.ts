// `@edgecairn/embed/worker`: the whole Worker, inside one's own. Its types are written out here, since what they are made of
// does not go into the package.
import type { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import type { Hono } from "hono";
import { PromptCache as RealPromptCache } from "../../../durable-objects/prompt-cache.ts";
import { UserMemory as RealUserMemory } from "../../../durable-objects/user-memory.ts";
import type { Memory as Methods } from "../../client/src/entrypoint.ts";
import { clientInWorker } from "../../client/src/in-worker.ts";
import { memoryOf } from "../../../src/worker/rpc/memory.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { mounted } from "./mounted.ts";

/** The bindings of a Worker that embeds Cairn, by these names. docs/guides/mount.md has the lines of wrangler.toml. */
export type CairnBindings = CairnVars & {
  DB: D1Database;
  /** The databases that users are spread over, numbered from 0 without a gap. */
  [facts: `FACTS_${number}`]: D1Database;
  /** Serves the package's `dist/assets`, or a folder that holds a copy of it. */
  ASSETS: Fetcher;
  USER_MEMORY: DurableObjectNamespace;
  PROMPT_CACHE: DurableObjectNamespace;
  /** Workers AI and Vectorize, where they are used. */
  AI?: unknown;
  VECTORIZE?: unknown;
  /** Rate limits of a token's user, and of a user's memory. */
  CALLER_RATE?: RateLimit;
  USER_RATE?: RateLimit;
  /** A rate limit of apps that one address registers for the sign-in for MCP. */
  REGISTER_RATE?: RateLimit;
  /** Takes a data point for each call. */
  METRICS?: AnalyticsEngineDataset;
};

/** Secrets and variables. Without CAIRN_SECRET, or a provider's logins, nobody comes in. */
export type CairnVars = {
  [
    Name in
      | "CAIRN_SECRET"
      | "CAIRN_SECRET_PREVIOUS"
      | "CORS_ORIGINS"
      | "AUDIT_DAYS"
      | "QUARANTINE_DAYS"
      | "CONSOLE"
      | "JURISDICTION"
      | `JWT_${"JWKS_URL" | "ISSUER" | "AUDIENCE" | "USER_CLAIM" | "SCOPE" | "SHARED"}`
      | `QUOTA_${"ENTRIES" | "MEMORIES" | "THREADS" | "BYTES"}`
      | `QUOTA_${"" | "TENANT_"}MODEL_${"CALLS" | "TOKENS"}`
      | `LLM_${"URL" | "MODEL" | "KEY"}`
      | `WEBHOOK_${"URL" | "SECRET" | "SECRET_PREVIOUS"}`
      | `OTLP_${"URL" | "HEADERS" | "SERVICE" | "SAMPLE"}`
      | `EMBEDDINGS_${"URL" | "MODEL" | "KEY" | "DIMENSIONS"}`
      | "MESSAGE_INDEXING"
      | "RECALL_WEIGHTS"
      | "RERANKER_MODEL"
      | "RATES"
      | "SIGN_IN"
      | `OIDC_${"ISSUER" | "CLIENT_ID" | "CLIENT_SECRET"}`
  ]?: string;
};

type ObjectClass = new (ctx: DurableObjectState, env: CairnBindings) => DurableObject;

// The bindings that the classes see are these, in types that do not go into the package.
/** The object of one user, to be exported by the Worker. */
export const UserMemory = RealUserMemory as unknown as ObjectClass;
export type UserMemory = DurableObject;
/** A shard of the prompt-cache registry, to be exported by the Worker. */
export const PromptCache = RealPromptCache as unknown as ObjectClass;
export type PromptCache = DurableObject;

/** Cairn as a Hono app: `app.route("/memory", cairnApp)`. */
export const cairnApp = mounted() as unknown as Hono<{ Bindings: CairnBindings }>;

const worker = createWorker(undefined, { sharesOrigin: true });

/** The entrypoint that other Workers of the account call over a service binding, to be exported by the Worker. */
export const Memory = memoryOf<Methods>(worker.answer, clientInWorker()) as unknown as new (
  ctx: ExecutionContext,
  env: CairnBindings,
) => Memory;
export type Memory = WorkerEntrypoint & Methods;

/** Cairn as a Worker: its `fetch` for a router that is not Hono's, and `scheduled` for the cron. */
export const cairnWorker = worker as unknown as {
  fetch: (request: Request, env: CairnBindings, ctx: ExecutionContext) => Response | Promise<Response>;
  scheduled: (event: ScheduledController, env: CairnBindings, ctx: ExecutionContext) => Promise<void>;
};
