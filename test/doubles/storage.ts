import { control } from "./control.ts";

/** Ends the object right after its storage was deleted, before anything else is committed: `control.diesAfterDeleteAll`. */
export function dieAfterDeleteAll(ctx: DurableObjectState): void {
  const { storage } = ctx;
  const real = storage.deleteAll.bind(storage);
  Object.defineProperty(storage, "deleteAll", {
    value: (): Promise<void> => {
      const deleted = real();
      if (!control.diesAfterDeleteAll) return deleted;
      control.diesAfterDeleteAll = false;
      ctx.abort("died");
      throw new Error("died");
    },
  });
}

/**
 * Makes transactions throw at their end, as a full or broken disk does: `control.failingTransactions` says how many. One within
 * another ends with that.
 */
export function failTransactions(storage: DurableObjectStorage): void {
  const real = storage.transactionSync.bind(storage);
  let depth = 0;
  const fails = (): void => {
    if (depth > 1) return;
    if (control.goodTransactions > 0) control.goodTransactions--;
    else if (control.failingTransactions > 0) {
      control.failingTransactions--;
      throw new Error(control.transactionFailure);
    }
  };
  Object.defineProperty(storage, "transactionSync", {
    value: <T>(act: () => T): T => {
      depth++;
      try {
        return real(() => {
          const done = act();
          fails();
          return done;
        });
      } finally {
        depth--;
      }
    },
  });
}

type Table = { name: string; rows: Record<string, SqlStorageValue>[] };
type State = { at: number; tables: Table[]; kv: [string, unknown][] };
/** The states that the tests took, by object, and those that the next sessions begin with. */
const [states, pending] = [new Map<string, State[]>(), new Map<string, State>()];

/** The words of texts are no rows that can be copied: a reindex brings those of memories back. */
const KEPT = `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT GLOB '_cf_*' AND name NOT GLOB 'word*'
  AND name <> 'applied_migrations'`;
const namesOf = (sql: SqlStorage): string[] => Array.from(sql.exec(KEPT).raw<[string]>(), ([name]) => name);

/** Takes the state of an object, as the platform does by itself all the time. */
export function takeState({ id, storage }: DurableObjectState, at: number): void {
  const tables = namesOf(storage.sql).map((name) => ({
    name,
    rows: storage.sql.exec(`SELECT * FROM ${name}`).toArray(),
  }));
  const before = states.get(id.toString()) ?? [];
  states.set(id.toString(), [...before, { at, tables, kv: [...storage.kv.list()] }]);
}

/**
 * A double of point-in-time recovery, which the local runtime lacks: an object that ends after `onNextSessionRestoreBookmark` begins
 * with the state of the bookmark. Call it before the object reads its storage.
 */
export function keepStates(ctx: DurableObjectState): DurableObjectState {
  const { storage } = ctx;
  const id = ctx.id.toString();
  const next = pending.get(id);
  pending.delete(id);
  if (next !== undefined) setBack(storage, next);
  Object.defineProperties(storage, {
    getBookmarkForTime: {
      value: async (time: number) => {
        const found = states.get(id)?.findLast(({ at }) => at <= time);
        if (found === undefined)
          throw new Error("storage back-end does not implement point-in-time recovery");
        return String(found.at);
      },
    },
    onNextSessionRestoreBookmark: {
      value: async (bookmark: string) => {
        if (control.bookmarkRefused) throw new Error("the bookmark is refused");
        const found = states.get(id)?.find(({ at }) => String(at) === bookmark);
        if (found !== undefined) pending.set(id, found);
        return "before";
      },
    },
  });
  return ctx;
}

function setBack({ sql, kv }: DurableObjectStorage, { tables, kv: pairs }: State): void {
  const triggers = sql
    .exec<{ name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .toArray();
  for (const { name } of triggers) sql.exec(`DROP TRIGGER ${name}`);
  for (const { name, rows } of tables) {
    sql.exec(`DELETE FROM ${name}`);
    for (const row of rows) {
      const columns = Object.keys(row);
      sql.exec(
        `INSERT INTO ${name} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`,
        ...Object.values(row),
      );
    }
  }
  sql.exec("INSERT INTO words (words) VALUES ('delete-all')");
  for (const trigger of triggers) sql.exec(trigger.sql);
  for (const [key] of kv.list()) kv.delete(key);
  for (const [key, value] of pairs) kv.put(key, value);
}
