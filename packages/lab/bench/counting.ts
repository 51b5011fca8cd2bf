// Cairn as it is deployed, with a count of the rows that its objects, the Worker and their D1 write and read, and of the requests to
// objects; with paths to evict an object, to lengthen a thread, and to move the clock on. Only the bench starts it.
import worker, { PromptCache as DeployedCache, UserMemory as Deployed } from "../../../src/index.ts";

import type { Counts, ObjectCounts, Totals } from "./counts.ts";

type Cursor = { rowsRead: number; rowsWritten: number };
type Env = ConstructorParameters<typeof Deployed>[1];
type D1Answer = { meta?: { rows_read?: number; rows_written?: number; duration?: number } };
type Statement = { cursor: Cursor; table: string };
type Counted = { cursors: Statement[]; counts: Counts };

/** A cursor counts on while it is read: the last ones are asked only when the counts are. */
const MAY_BE_READ = 1_000;
const SLOTS = 2 ** 31;

/** By object: the counts outlive an eviction, as the isolate does. */
const ofObjects = new Map<string, Counted>();
const ofWorker = noCounts();
/** Milliseconds that D1 has worked, as it says. */
let d1Ms = 0;
/** Calls of objects by the Worker, and alarms that went off. */
let requests = 0;
/** Rows that objects have written, by table. An alarm that is set is a row. */
const byTable: Record<string, number> = {};

/** Milliseconds by which the clock of the Worker and of its objects is ahead. Alarms of the platform go by its own. */
let ahead = 0;
const realNow = Date.now.bind(Date);
Date.now = () => realNow() + ahead;

function noCounts(): Counts {
  return { written: 0, read: 0, d1Written: 0, d1Read: 0 };
}

export class PromptCache extends DeployedCache {
  constructor(ctx: DurableObjectState, env: Env) {
    countStorage(ctx);
    super(ctx, env);
  }
}

export class UserMemory extends Deployed {
  readonly #counted: Counted;
  readonly #ctx: DurableObjectState;

  constructor(ctx: DurableObjectState, env: Env) {
    const counted = countStorage(ctx);
    super(ctx, { ...env, DB: countedDatabase(env.DB, counted.counts) });
    this.#counted = counted;
    this.#ctx = ctx;
  }

  counts(): ObjectCounts {
    add(this.#counted, this.#counted.cursors.length);
    return { ...this.#counted.counts, bytes: this.#ctx.storage.sql.databaseSize };
  }

  evict(): void {
    this.#ctx.abort("evicted");
  }

  due(): Promise<number | null> {
    return this.#ctx.storage.getAlarm();
  }

  /** Does what the alarm does, which the platform would ring by its own clock. */
  async ring(): Promise<void> {
    await this.#ctx.storage.deleteAlarm();
    await this.alarm();
  }

  /**
   * Copies the `count` messages of a thread that begin `back` before its end, to its end. Moves the first word of each copy to
   * the end, which changes neither the vector nor the word pieces. Writes the rows that an append writes. The object has to be
   * evicted afterwards, since its caches lack the copies.
   */
  lengthen(id: string, back: number, count: number): void {
    const { sql } = this.#ctx.storage;
    const { n, last } = sql
      .exec<{ n: number; last: number }>("SELECT n, last_seq AS last FROM threads WHERE id = ?", id)
      .one();
    const first = n * SLOTS + last - back + 1;
    const range = [first, first + count - 1];
    const copies = [first + back, first + back + count - 1];
    this.#ctx.storage.transactionSync(() => {
      sql.exec(
        `INSERT INTO messages (position, created_at, role, document, body)
         SELECT position + ?, created_at + 1, role, document, CAST(json_set(CAST(body AS TEXT), '$.content',
           substr(said, instr(said, ' ') + 1) || ' ' || substr(said, 1, instr(said, ' ') - 1)) AS BLOB)
         FROM (SELECT *, CAST(body AS TEXT) ->> '$.content' AS said FROM messages WHERE position BETWEEN ? AND ?)`,
        back,
        ...range,
      );
      sql.exec(
        `INSERT INTO words (rowid, text)
         SELECT position, CAST(body AS TEXT) ->> '$.content' FROM messages WHERE position BETWEEN ? AND ?`,
        ...copies,
      );
      sql.exec(
        `INSERT INTO vectors (n, model, vector, pieces)
         SELECT n + ?, model, vector, pieces FROM vectors WHERE n BETWEEN ? AND ?`,
        back,
        ...range,
      );
      sql.exec("UPDATE threads SET length = length + ?1, last_seq = last_seq + ?1 WHERE n = ?2", count, n);
    });
  }
}

function countStorage({ id, storage }: DurableObjectState): Counted {
  const counted = ofObjects.get(id.toString()) ?? { cursors: [], counts: noCounts() };
  ofObjects.set(id.toString(), counted);
  watch(storage.sql, "exec", (cursor, [sql]) => {
    counted.cursors.push({ cursor: cursor as Cursor, table: tableOf(String(sql)) });
    if (counted.cursors.length > 2 * MAY_BE_READ) add(counted, MAY_BE_READ);
  });
  // The platform bills a row for each alarm that is set.
  watch(storage, "setAlarm", () => wrote(counted.counts, "alarms", 1));
  return counted;
}

/** The table that a statement changes. */
const tableOf = (sql: string): string => /\b(?:INTO|UPDATE|FROM)\s+(\w+)/.exec(sql)?.[1] ?? "others";

function wrote(counts: Counts, table: string, rows: number): void {
  counts.written += rows;
  if (rows > 0) byTable[table] = (byTable[table] ?? 0) + rows;
}

/** Adds the rows of the first cursors, and forgets these. */
function add({ cursors, counts }: Counted, first: number): void {
  for (const { cursor, table } of cursors.splice(0, first)) {
    counts.read += cursor.rowsRead;
    wrote(counts, table, cursor.rowsWritten);
  }
}

/** Calls `after` with each answer of one method of one object, and with its arguments. */
function watch(object: object, method: string, after: (answer: unknown, given: unknown[]) => void): void {
  const real = Reflect.get(object, method) as (...given: unknown[]) => unknown;
  const value = (...given: unknown[]): unknown => {
    const answer = Reflect.apply(real, object, given);
    after(answer, given);
    return answer;
  };
  Object.defineProperty(object, method, { value, configurable: true });
}

function countedDatabase(database: D1Database, counts: Counts): D1Database {
  const statements = new WeakMap<object, D1PreparedStatement>();
  const count = <T extends D1Answer>(answer: T): T => {
    counts.d1Written += answer.meta?.rows_written ?? 0;
    counts.d1Read += answer.meta?.rows_read ?? 0;
    d1Ms += answer.meta?.duration ?? 0;
    return answer;
  };
  const counted = (real: D1PreparedStatement): D1PreparedStatement => {
    const statement = {
      bind: (...given: unknown[]) => counted(real.bind(...given)),
      all: async () => count(await real.all()),
      run: async () => count(await real.run()),
      // An answer of `first` or of `raw` does not tell its rows.
      first: async (column?: string) => {
        const [row] = count(await real.all()).results;
        return row === undefined || column === undefined ? (row ?? null) : row[column];
      },
      raw: async () => count(await real.all<object>()).results.map((row) => Object.values(row)),
    } as unknown as D1PreparedStatement;
    statements.set(statement, real);
    return statement;
  };
  return {
    prepare: (sql: string) => counted(database.prepare(sql)),
    batch: async (all: D1PreparedStatement[]) =>
      (await database.batch(all.map((one) => statements.get(one) ?? one))).map(count),
  } as unknown as D1Database;
}

/** One for each environment: Cairn keeps its services by it. */
const countedEnvs = new WeakMap<Env, Env>();
function countedEnv(env: Env): Env {
  const known = countedEnvs.get(env) ?? {
    ...env,
    DB: countedDatabase(env.DB, ofWorker),
    USER_MEMORY: countedNamespace(env.USER_MEMORY),
    PROMPT_CACHE: countedNamespace(env.PROMPT_CACHE),
  };
  countedEnvs.set(env, known);
  return known;
}

/** Counts the calls of its objects. */
const countedNamespace = <T extends object>(namespace: T): T =>
  intercepted(namespace, "getByName", (stub) => intercepted(Object(stub) as object, null, counting));

function counting<T>(answer: T): T {
  requests++;
  return answer;
}

/** The object; `after` makes the answer of the named method, or of each. */
const intercepted = <T extends object>(
  object: T,
  named: string | null,
  after: (answer: unknown) => unknown,
): T =>
  new Proxy(object, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function") return method;
      return (...given: unknown[]): unknown => {
        const answer: unknown = Reflect.apply(method, target, given);
        return named === null || named === name ? after(answer) : answer;
      };
    },
  });

type Ringing = { due: () => Promise<number | null>; ring: () => Promise<void>; evict: () => Promise<void> };

/** Moves the clock on to a time. Each alarm of the object until then goes off, and the object sleeps before each and at the end. */
async function moveOn(objectOf: () => Ringing, until: number): Promise<void> {
  for (;;) {
    // The call that evicts its object fails.
    await objectOf()
      .evict()
      .catch(() => {});
    const due = await objectOf().due();
    if (due === null || due > until) break;
    ahead += Math.max(0, due - Date.now());
    requests++;
    await objectOf().ring();
  }
  ahead += Math.max(0, until - Date.now());
}

/** The sum over all objects and the Worker. */
function total(): Totals {
  const sum = { ...ofWorker };
  for (const counted of ofObjects.values()) {
    add(counted, counted.cursors.length);
    for (const what of ["written", "read", "d1Written", "d1Read"] as const) sum[what] += counted.counts[what];
  }
  return { ...sum, requests, byTable, d1Ms, now: Date.now() };
}

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/counts") return Response.json(total());
    const [, hash, act] = /^\/counts\/([^/]+)(?:\/(.+))?$/.exec(pathname) ?? [];
    if (hash === undefined) return worker.fetch(request, countedEnv(env), ctx);
    // A stub of an object that was evicted is broken.
    const objectOf = () => env.USER_MEMORY.getByName(hash) as unknown as Ringing;
    if (act === "moved") await moveOn(objectOf, Number(searchParams.get("until")));
    const object = env.USER_MEMORY.getByName(hash) as unknown as Ringing & {
      counts: () => Promise<ObjectCounts>;
      lengthen: (id: string, back: number, count: number) => Promise<void>;
    };
    // The call that evicts its object fails.
    if (act === "evict") await object.evict().catch(() => {});
    if (act === "lengthen")
      await object.lengthen(
        searchParams.get("thread") ?? "",
        Number(searchParams.get("back")),
        Number(searchParams.get("count")),
      );
    if (act !== undefined) return new Response(null, { status: 204 });
    return Response.json(await object.counts());
  },
};
