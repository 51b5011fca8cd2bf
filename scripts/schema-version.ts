// The tables that a local state was made with: a migration that was edited since is not applied again.
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");

/** The hash of each migration: of the objects by class, then of D1 by file. */
async function migrationHashes(): Promise<string[]> {
  const objects = ["user-memory", "prompt-cache"].map(async (folder) => {
    // By an address that the compiler does not follow: the objects are typed for workerd, not for Node.
    const { href } = new URL(`../durable-objects/${folder}/schema.ts`, import.meta.url);
    const { migrations } = (await import(href)) as { migrations: readonly { id: number; sql: string }[] };
    return migrations.map(({ id, sql }) => `${folder} ${id} ${hashOf(sql)}`);
  });
  const files = globSync("migrations/*.sql", { cwd: root }).toSorted();
  const database = files.map((file) => `${file} ${hashOf(readFileSync(join(root, file), "utf8"))}`);
  return [...(await Promise.all(objects)).flat(), ...database];
}

/** Comments and white space may change. */
const hashOf = (sql: string): string =>
  createHash("sha256")
    .update(sql.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim())
    .digest("hex")
    .slice(0, 16);

/** Returns false if the state has a migration that this version does not have. Records the migrations otherwise. */
export async function hasCurrentSchema(state: string): Promise<boolean> {
  const file = join(state, "migrations");
  const known = await migrationHashes();
  const isNew = !existsSync(join(state, "v3/d1"));
  const applied = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : isNew ? [] : ["unknown"];
  if (!applied.every((migration) => known.includes(migration))) return false;
  writeFileSync(file, `${known.join("\n")}\n`, { mode: 0o600 });
  return true;
}
