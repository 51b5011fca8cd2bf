// The file of the local database: wrangler names it by the id in wrangler.toml, or by the binding where there is none.
import { createHash, createHmac } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parse } from "smol-toml";
import { CannotStart, reasonOf } from "./cannot-start.ts";

const root = join(import.meta.dirname, "../..");
/** The class of the local databases' objects in miniflare. */
const CLASS = "miniflare-D1DatabaseObject";
const BINDING = "DB";
/** The first of Cairn's migrations, which tells its databases from another program's. */
const FIRST_MIGRATION = "0001_tables.sql";

/** The id under which `wrangler dev` keeps the database that is bound as `DB`. */
export function databaseId(toml = readFileSync(join(root, "wrangler.toml"), "utf8")): string {
  const { d1_databases: databases } = parse(toml);
  const id: unknown = Array.isArray(databases) && Object(databases[0]).database_id;
  return typeof id === "string" && id !== "" ? id : BINDING;
}

/** The file of a database in a state: the id of an object of that name, as workerd makes it. */
export function databaseFile(state: string, id: string): string {
  const key = createHash("sha256").update(CLASS).digest();
  const first = createHmac("sha256", key).update(id).digest().subarray(0, 16);
  const second = createHmac("sha256", key).update(first).digest().subarray(0, 16);
  return join(state, "v3/d1", CLASS, `${Buffer.concat([first, second]).toString("hex")}.sqlite`);
}

/** The databases of a state. Beside them, a file of miniflare's names them. */
export const databaseFiles = (state: string): string[] =>
  globSync("v3/d1/*/*.sqlite", { cwd: state })
    .filter((file) => basename(file) !== "metadata.sqlite")
    .map((file) => join(state, file));

/** Reads a database. One that cannot be read stops the start: it may be the one that holds everything. */
function reading<T>(file: string, read: (database: DatabaseSync) => T): T {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    return read(database);
  } catch (error) {
    throw new CannotStart(`The database ${file} cannot be read: ${reasonOf(error)}. Nothing was touched.`);
  } finally {
    database?.close();
  }
}

const tablesIn = (database: DatabaseSync): unknown[] =>
  database
    .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
    .all()
    .map(({ name }) => name);

const namesIn = (database: DatabaseSync): ReadonlySet<unknown> =>
  new Set(
    tablesIn(database).includes("d1_migrations")
      ? database
          .prepare("SELECT name FROM d1_migrations")
          .all()
          .map(({ name }) => name)
      : [],
  );

/** The names of the migrations that a database has, by wrangler's own notes. */
export const migrationsIn = (file: string): ReadonlySet<unknown> => reading(file, namesIn);

/** The Worker fills these tables by itself, at its first calls: a database with no more than that holds nothing. */
const BY_ITSELF = /^(_cf_|sqlite_|d1_migrations$|deployment$|audit$|jobs$)/;

/** True for a database of Cairn's in which something was stored. */
const holdsData = (file: string): boolean =>
  reading(file, (database) => {
    if (!namesIn(database).has(FIRST_MIGRATION)) return false;
    const stored = tablesIn(database)
      .map(String)
      .filter((table) => !BY_ITSELF.test(table));
    return stored.some((table) => database.prepare(`SELECT 1 FROM "${table}" LIMIT 1`).get());
  });

/**
 * Gives the database that was kept under another id the name of this one. Answers whether it did: an id comes and goes
 * with `database_id` in wrangler.toml, and the data are the same.
 */
export function moveFormerDatabase(state: string, id = databaseId()): boolean {
  const file = databaseFile(state, id);
  const there = existsSync(file);
  if (there && holdsData(file)) return false;
  const former = databaseFiles(state).filter((other) => other !== file && holdsData(other));
  const [first, ...others] = former;
  if (first === undefined) return false;
  // SQLite would read another database's log as the log of the one that gets this name.
  const inTheWay = ["", "-wal", "-shm", "-journal"].map((part) => file + part).filter(existsSync);
  if (others.length > 0 || inTheWay.length > 0)
    throw new CannotStart(
      `The database under the id '${id}' of wrangler.toml holds nothing, and the state in ${state} has others that do:\n` +
        `  ${[...former, ...inTheWay].join("\n  ")}\n` +
        `Nothing was touched. Move aside all but the one that is yours, each with its log, and start again: it gets its name then.\n` +
        `  mkdir -p ${state}/aside && mv FILE* ${state}/aside/`,
    );
  toOneFile(first);
  mkdirSync(dirname(file), { recursive: true });
  renameSync(first, file);
  return true;
}

/** Writes a database's log into its file, and removes the log. SQLite does so only where nobody else has it open. */
function toOneFile(file: string): void {
  const database = new DatabaseSync(file);
  try {
    const answer = database.prepare("PRAGMA journal_mode = DELETE").get();
    if (answer?.journal_mode !== "delete") throw new Error("it keeps its log");
  } catch (error) {
    throw new CannotStart(
      `The database ${file} is to get another name, and another program has it open: ${reasonOf(error)}. Nothing was moved. ` +
        "End that program, and start again.",
    );
  } finally {
    database.close();
  }
}
