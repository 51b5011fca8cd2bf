// `@edgecairn/embed/testing`: the real Cairn in one Node process, for tests. Nothing is written down twice: it is the Worker's
// own code, over SQLite in memory where Cloudflare has D1 and Durable Objects.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { PromptCache } from "../../../durable-objects/prompt-cache.ts";
import { UserMemory } from "../../../durable-objects/user-memory.ts";
import { type Bindings, type Ports, portsOf } from "../../../src/platform/bindings.ts";
import { createWorker } from "../../../src/worker/worker.ts";
import { MemoryD1 } from "./d1.ts";
import { databaseClass } from "./database.ts";
import { assetsOf, migrationsIn } from "./files.ts";
import { Objects } from "./objects.ts";
import { Sql } from "./sql.ts";
import type { TestCairn, TestCairnOptions } from "./test-cairn.ts";
import { type Scope, mintToken, scopes } from "../../../src/domain/token.ts";

export type { TestCairn, TestCairnOptions, TestTokenOptions } from "./test-cairn.ts";

/** The folder of the built package: its migrations and assets are beside this file. */
const here = dirname(fileURLToPath(import.meta.url));
const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
/** Messages are embedded a second later, together with those that came by then. */
const SOON_MS = 1_000;
/** As often as alarms ring again at once at most: one that never ends is a fault, and to be seen. */
const ROUNDS = 1_000;

/**
 * Starts a Cairn in this process. Rejects where there is no `node:sqlite`: it wants Node 22.16 or newer, or Deno.
 *
 * @example
 * const server = await testCairn();
 * const memory = cairn({ fetch: server.fetch, token: await server.token("alice") });
 */
export async function testCairn({
  secret = crypto.randomUUID() + crypto.randomUUID(),
  now: clock = () => Date.now(),
}: TestCairnOptions = {}): Promise<TestCairn> {
  const Database = await databaseClass();
  const open = () => new Database(":memory:");
  let ahead = 0;
  const now = () => clock() + ahead;
  const ports = (env: Bindings): Ports => ({ ...portsOf(env), now });

  const d1 = new Sql(open());
  for (const migration of migrationsIn(join(here, "migrations"))) d1.run(`${migration}\n;`);
  // Of the bindings' interfaces they have what Cairn uses.
  const env = {
    CAIRN_SECRET: secret,
    CORS_ORIGINS: "",
    DB: new MemoryD1(d1),
    ASSETS: assetsOf(join(here, "assets")),
    USER_MEMORY: new Objects({ make: (ctx) => new UserMemory(ctx, env, ports(env)), open, now }),
    PROMPT_CACHE: new Objects({ make: (ctx) => new PromptCache(ctx, env, now), open, now }),
  } as unknown as Bindings;
  const objects = [env.USER_MEMORY, env.PROMPT_CACHE] as unknown as Objects[];

  const context = executionContext();
  const worker = createWorker(ports);

  const settle = async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      const rang = await Promise.all(objects.map((each) => each.ringDue(SOON_MS)));
      if (!rang.includes(true)) return;
    }
    throw new Error("alarms go on ringing");
  };

  return {
    fetch: async (request) => worker.fetch(request, env, context),
    token: (user, { scope = scopes, ttlMs = TEN_YEARS_MS, shared } = {}) =>
      // The same four names.
      mintToken(secret, { user, scope: scope satisfies readonly Scope[], ttlMs, shared }, now()),
    advance: (ms) => {
      ahead += ms;
      return settle();
    },
    settle,
    close: () => {
      for (const each of objects) each.close();
      d1.close();
    },
  };
}

/** Work that goes on after an answer goes on by itself here. */
function executionContext(): ExecutionContext {
  const context = {
    waitUntil: (work: Promise<unknown>) => void work.catch((error: unknown) => console.error(error)),
    passThroughOnException: () => {},
    props: {},
  };
  return context as unknown as ExecutionContext;
}
