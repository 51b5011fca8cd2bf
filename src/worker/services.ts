import type { RegistryRpc, UsageRpc } from "../../durable-objects/prompt-cache/contract.ts";
import type { UserMemoryRpc } from "../../durable-objects/user-memory/contract.ts";
import type { RefusedCalls } from "./audit/refused-calls.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { RevocationList } from "./auth/revocation-list.ts";
import type { Ports } from "../platform/bindings.ts";
import type { UserHash } from "../domain/ids.ts";
import type { RateLimits } from "./rates.ts";

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
  userMemory: (owner: UserHash) => UserMemoryRpc;
  /** Answers a request for a file of ours from the static assets. */
  asset: (request: Request) => Promise<Response>;
  /** The shard that a key of the registry lives in. */
  promptCache: (key: string) => Promise<RegistryRpc>;
  /** The one object that counts a namespace's usage. */
  promptCacheUsage: (namespace: string) => Promise<UsageRpc>;
};
