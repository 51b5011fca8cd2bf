// Cairn as it is deployed, with a count of the rows that its objects and their D1 write and read. Only `rows.ts` starts it.
import worker, { PromptCache, UserMemory as Deployed } from "../src/index.ts";

import type { Counts } from "./counts.ts";

export { PromptCache };

type Cursor = { rowsRead: number; rowsWritten: number };
type Env = ConstructorParameters<typeof Deployed>[1];
type D1Answer = { meta?: { rows_read?: number; rows_written?: number } };

export class UserMemory extends Deployed {
  readonly #counted: { cursors: Cursor[]; counts: Counts };
  readonly #storage: DurableObjectStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    const counted = {
      cursors: [] as Cursor[],
      counts: { written: 0, read: 0, d1Written: 0, d1Read: 0, bytes: 0 },
    };
    watch(ctx.storage.sql, "exec", (cursor) => void counted.cursors.push(cursor as Cursor));
    // The platform bills a row for each alarm that is set.
    watch(ctx.storage, "setAlarm", () => void counted.counts.written++);
    super(ctx, { ...env, DB: countedDatabase(env.DB, counted.counts) });
    this.#counted = counted;
    this.#storage = ctx.storage;
  }

  counts(): Counts {
    const { cursors, counts } = this.#counted;
    for (const { rowsRead, rowsWritten } of cursors.splice(0)) {
      counts.read += rowsRead;
      counts.written += rowsWritten;
    }
    return { ...counts, bytes: this.#storage.sql.databaseSize };
  }
}

/** Calls `after` with each answer of one method of one object. */
function watch(object: object, method: string, after: (answer: unknown) => void): void {
  const real = Reflect.get(object, method) as (...given: unknown[]) => unknown;
  const value = (...given: unknown[]): unknown => {
    const answer = Reflect.apply(real, object, given);
    after(answer);
    return answer;
  };
  Object.defineProperty(object, method, { value, configurable: true });
}

function countedDatabase(database: D1Database, counts: Counts): D1Database {
  const statements = new WeakMap<object, D1PreparedStatement>();
  const count = <T extends D1Answer>(answer: T): T => {
    counts.d1Written += answer.meta?.rows_written ?? 0;
    counts.d1Read += answer.meta?.rows_read ?? 0;
    return answer;
  };
  const counted = (real: D1PreparedStatement): D1PreparedStatement => {
    const statement = {
      bind: (...given: unknown[]) => counted(real.bind(...given)),
      all: async () => count(await real.all()),
      run: async () => count(await real.run()),
      first: (...given: [string]) => real.first(...given),
      raw: (...given: []) => real.raw(...given),
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

export default {
  async fetch(request: Request, env: Env, ctx: ExecutionContext): Promise<Response> {
    const { pathname } = new URL(request.url);
    const [, hash] = /^\/counts\/(.+)$/.exec(pathname) ?? [];
    if (hash === undefined) return worker.fetch(request, env, ctx);
    const object = env.USER_MEMORY.getByName(hash) as unknown as { counts: () => Promise<Counts> };
    return Response.json(await object.counts());
  },
};
