import type { OpenAPIHono } from "@hono/zod-openapi";
import { PROMPT_CACHE_SHARDS } from "../contract/prompt-cache.ts";
import type { UserMemoryRpc } from "../contract/user-memory.ts";
import { RefusedCalls } from "./audit/refused-calls.ts";
import { Authenticator } from "./auth/authenticator.ts";
import { loginSettingsOf, signInSettingsOf } from "./auth/login-settings.ts";
import { Logins } from "./auth/logins.ts";
import { RecallMeter } from "./recall-meter.ts";
import { Recent } from "./recent.ts";
import { RevocationList } from "./auth/revocation-list.ts";
import { RecallIds } from "./auth/recall-ids.ts";
import { signingKeysOf } from "./auth/verify-own.ts";
import { description, license, version } from "../../package.json";
import { type Bindings, type Ports, portsOf } from "../platform/bindings.ts";
import { AUDIT_DAYS, auditDaysOf, consoleOf, originsOf, rateLimitsOf, settingProblems } from "./settings.ts";
import { ownerKeyOf } from "../domain/entry-parts.ts";
import { QueryVectorCache } from "../platform/embeddings/query-vector-cache.ts";
import { requireProps, requireSecret } from "./http/authenticate.ts";
import type { AppEnv, BoundCall } from "./http/context.ts";
import type { Services } from "./services.ts";
import { envelope } from "./http/envelope.ts";
import { onError } from "./http/failure.ts";
import { declarationsOf, operationOf, refuseUndeclared } from "./http/guard.ts";
import { measure } from "./http/measure.ts";
import { locationNote, placeObjects } from "./http/location.ts";
import { nobody } from "./http/owner.ts";
import { requireDecodablePath } from "./http/path.ts";
import { newRouter, type Router, undocumented } from "./http/router.ts";
import { unknownRoute } from "./http/unknown-route.ts";
import { SignInServer } from "./sign-in/sign-in.ts";
import { shardOf } from "../domain/ids.ts";
import { auditOf } from "./routes/audit.ts";
import { within } from "../platform/objects-within.ts";
import { cache } from "./routes/cache.ts";
import { changes } from "./routes/changes.ts";
import { consolePage } from "./routes/console.ts";
import { consoleSession } from "./routes/console-session.ts";
import { contexts } from "./routes/context.ts";
import { documents } from "./routes/documents.ts";
import { entries } from "./routes/entries.ts";
import { erasures, receiptKeys } from "./routes/erasures.ts";
import { ingests } from "./routes/ingests.ts";
import { restore } from "./routes/restore.ts";
import { retention } from "./routes/retention.ts";
import { extraction } from "./routes/extraction.ts";
import { health, PROBED_MS, RECENT_MS } from "./routes/health.ts";
import { mcp } from "./routes/mcp.ts";
import { memories } from "./routes/memories.ts";
import { messages } from "./routes/messages.ts";
import { metrics } from "./routes/metrics.ts";
import { predicateRules } from "./routes/predicates.ts";
import { promptCache } from "./routes/prompt-cache.ts";
import { recalls } from "./routes/recall.ts";
import { reindex } from "./routes/reindex.ts";
import { revocations } from "./routes/revocations.ts";
import { signIn } from "./routes/sign-in.ts";
import { signIns } from "./routes/sign-ins.ts";
import { threads } from "./routes/threads.ts";
import { statistics } from "./routes/statistics.ts";
import { usage } from "./routes/usage.ts";
import { transfer } from "./routes/transfer.ts";
import { hash16 } from "../domain/hash.ts";

/** The place of the app among others. */
type Place = {
  /** The path of a request's mount. */
  basePathOf?: (request: Request) => string;
  /** Said of a Worker to mount in another one, whose pages may be of the same origin. */
  sharesOrigin?: boolean;
  /** The call over a service binding that a request stands for. */
  boundOf?: (request: Request) => BoundCall | undefined;
};

/** The HTTP API. Tests put doubles into `makePorts`. */
export function createApp(
  makePorts: (env: Bindings) => Ports = portsOf,
  { basePathOf = () => "", sharesOrigin = false, boundOf = () => undefined }: Place = {},
): OpenAPIHono<AppEnv> {
  const app = newRouter();
  const servicesOf = oncePerEnv((env) => services(env, makePorts(env)));

  app.use((c, next) => {
    c.set("services", servicesOf(c.env));
    c.set("basePath", basePathOf(c.req.raw));
    c.set("sharesOrigin", sharesOrigin);
    c.set("bound", boundOf(c.req.raw));
    return measure(c, () => envelope(c, next));
  });
  app.use(requireProps, requireDecodablePath, requireSecret, placeObjects);
  for (const routes of [
    health,
    documents,
    consoleSession,
    consolePage,
    receiptKeys,
    signIn,
    mcp,
    entries,
    threads,
    messages,
    memories,
    recalls,
    contexts,
    ingests,
    predicateRules,
    extraction,
    retention,
    restore,
    usage,
    metrics,
    statistics,
    changes,
    erasures,
    transfer,
    reindex,
    cache,
    promptCache,
    revocations,
    signIns,
    auditOf(() =>
      declarationsOf(app)
        .filter(({ isAudited }) => isAudited)
        .map(operationOf),
    ),
  ])
    app.route("/", routes);

  documentApi(app);
  refuseUndeclared(app);

  app.onError(onError);
  app.notFound(unknownRoute(app.routes));
  return app;
}

/** Answers the OpenAPI document of all routes. */
function documentApi(app: Router): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description:
      "A token that is signed with the tenant's secret (HS256), with the claims `sub` (a user, or `*`), `scope`, `exp` and perhaps `shared`, `thread` and `jti`; or a login of the tenant's identity provider.",
  });
  undocumented(app, { method: "get", path: "/openapi.json", scope: "open", owner: nobody }, (c) =>
    c.json(
      app.getOpenAPI31Document({
        openapi: "3.1.0",
        info: {
          title: "Cairn",
          version,
          description: `${description} ${locationNote}`,
          license: { name: license, url: "https://www.apache.org/licenses/LICENSE-2.0" },
        },
        servers: [{ url: c.get("basePath") || "/" }],
      }),
    ),
  );
}

/** Makes one value for each set of bindings: the requests of an isolate share theirs. */
function oncePerEnv<T>(make: (env: Bindings) => T): (env: Bindings) => T {
  const made = new WeakMap<Bindings, T>();
  return (env) => {
    const known = made.get(env);
    if (known !== undefined) return known;
    const fresh = make(env);
    made.set(env, fresh);
    return fresh;
  };
}

export function services(env: Bindings, ports: Ports): Services {
  const revoked = new RevocationList(ports);
  const { settings: logins } = loginSettingsOf(env);
  const { settings } = signInSettingsOf(env);
  const users = within(env.USER_MEMORY, env.JURISDICTION);
  const registry = within(env.PROMPT_CACHE, env.JURISDICTION);
  return {
    ...ports,
    revoked,
    embedder: new QueryVectorCache(ports.embedder),
    corsOrigins: originsOf(env),
    loggedOrigins: new Set(),
    ...(env.CAIRN_SECRET !== undefined && { secret: env.CAIRN_SECRET }),
    authenticator: new Authenticator({
      keys: signingKeysOf(env.CAIRN_SECRET, env.CAIRN_SECRET_PREVIOUS),
      logins: logins == null ? null : new Logins(logins),
      revoked,
      now: ports.now,
    }),
    signIn: settings == null ? null : new SignInServer({ ...ports, settings, revoked }),
    refusedCalls: new RefusedCalls(),
    recallMeter: new RecallMeter(),
    recallIds: new RecallIds(signingKeysOf(env.CAIRN_SECRET, env.CAIRN_SECRET_PREVIOUS)),
    health: new Recent(RECENT_MS),
    remoteEmbedder: ports.embedder.embedNow === undefined ? ports.embedder : null,
    embedderProblem: new Recent(PROBED_MS),
    failingSince: new Map(),
    rateLimits: rateLimitsOf(env),
    auditDays: auditDaysOf(env) ?? AUDIT_DAYS,
    console: consoleOf(env),
    settingProblems: settingProblems(env),
    // The stub types of workers-types fail on the recursive type of a JSON value.
    userMemory: (owner, location) =>
      users().getByName(
        owner,
        // A jurisdiction says where its objects are.
        location === undefined || (env.JURISDICTION ?? "") !== "" ? undefined : { locationHint: location },
      ) as unknown as UserMemoryRpc,
    promptCache: async (key) =>
      registry().getByName(`shard-${await shardOf(ownerKeyOf(key), PROMPT_CACHE_SHARDS)}`),
    promptCacheShards: () =>
      Array.from({ length: PROMPT_CACHE_SHARDS }, (_, shard) => registry().getByName(`shard-${shard}`)),
    promptCacheUsage: async (namespace) =>
      registry().getByName(`usage-${await hash16(`cairn:usage:${namespace}`)}`),
    asset: async (request) => {
      const response = await env.ASSETS.fetch(request);
      // A copy with mutable headers.
      return new Response(response.body, response);
    },
  };
}
