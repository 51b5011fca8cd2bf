import type { PromptCache } from "../../durable-objects/prompt-cache.ts";
import type { UserMemory } from "../../durable-objects/user-memory.ts";
import type { RefusedCalls } from "./audit/refused-calls.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { RevocationList } from "./auth/revocation-list.ts";
import type { Ports } from "../platform/bindings.ts";
import type { UserHash } from "../domain/ids.ts";
import type { RateLimits } from "./rates.ts";

/**
 * An object as its callers see it: its methods, each a promise. Written out because the stub types of
 * workers-types do not get through the recursive type of a JSON value. Only plain data crosses here.
 */
export type Remote<T> = {
  [
    K in Exclude<keyof T, "alarm" | "fetch"> as T[K] extends (...given: never[]) => unknown ? K : never
  ]: T[K] extends (...given: infer Given) => infer Answer
    ? (...given: Given) => Promise<Awaited<Answer>>
    : never;
};

/** What a request works with; `app.ts` makes it of the bindings, so that nothing below reads them. */
export type Services = Ports & {
  /** Signs tokens; absent while the deployment is not configured. */
  secret?: string;
  authenticator: Authenticator;
  /** What this isolate knows of revoked tokens. */
  revoked: RevocationList;
  refusedCalls: RefusedCalls;
  rateLimits: RateLimits;
  /** How many days the audit log goes back. */
  auditDays: number;
  /** What is wrong with the settings, each so that calls go on without what it is about. */
  settingProblems: readonly string[];
  /** Origins that a browser may call from; `*` for any. */
  corsOrigins: readonly string[];
  userMemory: (owner: UserHash) => Remote<UserMemory>;
  /** Answers a request for a file of ours from the static assets. */
  asset: (request: Request) => Promise<Response>;
  /** The shard that a key of the registry lives in. */
  promptCache: (key: string) => Promise<Remote<PromptCache>>;
  /** The one object that counts a namespace's usage. */
  promptCacheUsage: (namespace: string) => Promise<Remote<PromptCache>>;
};
