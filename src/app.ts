import type { OpenAPIHono } from "@hono/zod-openapi";
import { PROMPT_CACHE_SHARDS } from "../durable-objects/prompt-cache.ts";
import type { UserMemory } from "../durable-objects/user-memory.ts";
import packageJson from "../package.json" with { type: "json" };
import { type Bindings, type Ports, portsOf } from "./bindings.ts";
import { RememberedQueries } from "./embeddings/remembered-queries.ts";
import { authenticate, ownThreadOnly, ownUserOnly, requireSecret } from "./http/authenticate.ts";
import type { AppEnv } from "./http/context.ts";
import type { Remote, Services } from "./services.ts";
import { envelope } from "./http/envelope.ts";
import { onError } from "./http/failure.ts";
import { readBody } from "./http/json-body.ts";
import { demandDecodablePath } from "./http/path.ts";
import { newRouter } from "./http/router.ts";
import { inOrder } from "./http/steps.ts";
import { unknownRoute } from "./http/unknown-route.ts";
import { hash16, shardOf } from "./ids.ts";
import { cache } from "./routes/cache.ts";
import { documents } from "./routes/documents.ts";
import { entries } from "./routes/entries.ts";
import { erasures, receiptKeys } from "./routes/erasures.ts";
import { health } from "./routes/health.ts";
import { memories } from "./routes/memories.ts";
import { messages } from "./routes/messages.ts";
import { promptCache } from "./routes/prompt-cache.ts";
import { reindex } from "./routes/reindex.ts";
import { threads } from "./routes/threads.ts";
import { transfer } from "./routes/transfer.ts";

/** The Worker's HTTP surface. `makePorts` is for the tests, which put doubles in the place of what can fail. */
export function createApp(makePorts: (env: Bindings) => Ports = portsOf): OpenAPIHono<AppEnv> {
  const app = newRouter();
  const servicesOf = oncePerEnv((env) => services(env, makePorts(env)));

  app.use((c, next) => {
    c.set("services", servicesOf(c.env));
    return envelope(c, next);
  });
  app.use(inOrder(demandDecodablePath, requireSecret));
  app.route("/", health);
  app.route("/", documents);
  app.route("/", receiptKeys);
  app.use("/v1/*", inOrder(authenticate, readBody));
  app.use("/v1/users/:user/*", inOrder(ownUserOnly));
  app.use("/v1/threads/:id/*", inOrder(ownThreadOnly));
  for (const routes of [
    entries,
    threads,
    messages,
    memories,
    erasures,
    transfer,
    reindex,
    cache,
    promptCache,
  ])
    app.route("/", routes);

  app.openAPIRegistry.registerComponent("securitySchemes", "bearer", {
    type: "http",
    scheme: "bearer",
    bearerFormat: "JWT",
    description: "A signed token (HS256) with the claims `sub` (a user, or `*`), `scope` and `exp`.",
  });
  app.doc31("/openapi.json", {
    openapi: "3.1.0",
    info: {
      title: "Cairn",
      version: packageJson.version,
      description: packageJson.description,
      license: { name: packageJson.license, url: "https://www.apache.org/licenses/LICENSE-2.0" },
    },
    servers: [{ url: "/" }],
  });

  app.onError(onError);
  app.notFound(unknownRoute(app.routes));
  return app;
}

/** What is made of the bindings lives as long as they do: the runtime hands an isolate's requests the same ones. */
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
  return {
    ...ports,
    embedder: new RememberedQueries(ports.embedder),
    corsOrigins: (env.CORS_ORIGINS ?? "")
      .split(",")
      .map((origin) => origin.trim())
      .filter((origin) => origin !== ""),
    ...(env.CAIRN_SECRET !== undefined && { secret: env.CAIRN_SECRET }),
    // A stub is what `Remote` says it is: see there why the compiler cannot follow.
    userMemory: (owner) => env.USER_MEMORY.getByName(owner) as unknown as Remote<UserMemory>,
    promptCache: async (key) =>
      env.PROMPT_CACHE.getByName(`shard-${await shardOf(key, PROMPT_CACHE_SHARDS)}`),
    promptCacheUsage: async (namespace) =>
      env.PROMPT_CACHE.getByName(`usage-${await hash16(`cairn:usage:${namespace}`)}`),
    asset: async (request) => {
      const response = await env.ASSETS.fetch(request);
      // A copy, whose headers the middleware may add to.
      return new Response(response.body, response);
    },
  };
}
