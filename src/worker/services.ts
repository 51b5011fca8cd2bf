import type { RegistryRpc, CacheUsageRpc } from "../contract/prompt-cache.ts";
import type { UserMemoryRpc } from "../contract/user-memory.ts";
import type { RefusedCalls } from "./audit/refused-calls.ts";
import type { Authenticator } from "./auth/authenticator.ts";
import type { RecallIds } from "./auth/recall-ids.ts";
import type { RecallMeter } from "./recall-meter.ts";
import type { Embedder } from "../platform/embeddings/embedder.ts";
import type { Recent } from "./recent.ts";
import type { Health, HEALTH_PARTS } from "../domain/schema/health.ts";
import type { RevocationList } from "./auth/revocation-list.ts";
import type { ConsoleSettings, RateLimits } from "./settings.ts";
import type { SignInServer } from "./sign-in/sign-in.ts";
import type { Ports } from "../platform/bindings.ts";
import type { UserHash } from "../domain/ids.ts";
import type { Location } from "../domain/location.ts";

/** The dependencies of a request. `app.ts` makes them from the bindings, so routes and use cases read no bindings. */
export type Services = Ports & {
  /** CAIRN_SECRET; absent if not set. It may be too short: check it with `isSecret`. */
  secret?: string;
  authenticator: Authenticator;
  /** How people sign in for MCP; null where they cannot. */
  signIn: SignInServer | null;
  /** This isolate's copy of the revoked tokens. */
  revoked: RevocationList;
  refusedCalls: RefusedCalls;
  recallMeter: Pick<RecallMeter, "count" | "handOver">;
  recallIds: RecallIds;
  /** The last answer of /health. */
  health: Recent<Health>;
  /** The embedder where it is a service; null where it computes in the isolate, as /health loads no model. */
  remoteEmbedder: Embedder | null;
  /** The last probe of it; null: it embeds. */
  embedderProblem: Recent<string | null>;
  /** When this isolate first saw a part fail. */
  failingSince: Map<(typeof HEALTH_PARTS)[number], number>;
  rateLimits: RateLimits;
  /** The age at which events of the audit log are deleted. */
  auditDays: number;
  /** The console's demands on its users; null if it is off. */
  console: ConsoleSettings | null;
  /** Wrong settings. Calls go on without them. */
  settingProblems: readonly string[];
  /** Origins that a browser may call from; `*` for any. */
  corsOrigins: readonly string[];
  /** Refused origins that the log has already. */
  loggedOrigins: Set<string>;
  /** `location`: where the object is created, if this call makes it. */
  userMemory: (owner: UserHash, location?: Location) => UserMemoryRpc;
  /** Answers from the static assets. */
  asset: (request: Request) => Promise<Response>;
  /** The shard of a key of the registry. */
  promptCache: (key: string) => Promise<RegistryRpc>;
  /** All shards. */
  promptCacheShards: () => readonly RegistryRpc[];
  /** The object that counts a namespace's usage. */
  promptCacheUsage: (namespace: string) => Promise<CacheUsageRpc>;
};
