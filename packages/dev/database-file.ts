// The file of the local database: wrangler names it by the id in wrangler.toml, or by the binding where there is none.
import { createHash, createHmac } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parse } from "smol-toml";
import { CannotStart } from "./cannot-start.ts";

const root = join(import.meta.dirname, "../..");
/** The class of the local databases' objects in miniflare. */
const CLASS = "miniflare-D1DatabaseObject";
const BINDING = "DB";

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

/** The names of the migrations that a database has, by wrangler's own notes. Where they cannot be read, nobody knows. */
export function migrationsIn(file: string): ReadonlySet<unknown> {
  let database: DatabaseSync | null = null;
  try {
    database = new DatabaseSync(file, { readOnly: true });
    return new Set(
      database
        .prepare("SELECT name FROM d1_migrations")
        .all()
        .map(({ name }) => name),
    );
  } catch {
    return new Set();
  } finally {
    database?.close();
  }
}

/**
 * Gives the database that was kept under another id the name of this one. Answers whether it did: an id comes and goes
 * with `database_id` in wrangler.toml, and the data are the same.
 */
export function moveFormerDatabase(state: string, id = databaseId()): boolean {
  const file = databaseFile(state, id);
  if (existsSync(file)) return false;
  const former = databaseFiles(state).filter((other) => migrationsIn(other).size > 0);
  const [first, ...others] = former;
  if (first === undefined) return false;
  if (others.length > 0)
    throw new CannotStart(
      `The state in ${state} has several databases, and none is under the id '${id}' of wrangler.toml:\n  ${former.join("\n  ")}\n` +
        `Nothing was touched. Give yours this name: ${file}`,
    );
  // What is not yet in the file itself is written to it: then one file is the whole database, and moves at once.
  const database = new DatabaseSync(first);
  database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  mkdirSync(dirname(file), { recursive: true });
  renameSync(first, file);
  return true;
}
