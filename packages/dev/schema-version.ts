// The tables that a local state was made with: a migration that was edited since is not applied again.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");

/** The hash of each migration: of the objects by class, then of D1 by file. */
async function migrationHashes(): Promise<string[]> {
  const objects = ["user-memory", "prompt-cache"].map(async (folder) => {
    // By an address that the compiler does not follow: the objects are typed for workerd, not for Node.
    const { href } = new URL(`../../durable-objects/${folder}/schema.ts`, import.meta.url);
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

/** The names of the tables' versions: CHANGELOG.md says with each what changed. */
const fingerprintOf = (migrations: readonly string[]): string =>
  createHash("sha256").update(migrations.join("\n")).digest("hex").slice(0, 8);

/** The version of the tables that this code has. */
export const schemaVersion = async (): Promise<string> => fingerprintOf(await migrationHashes());

/** The last writer of a state: its tables, and the revision of this repository; null: the state does not say. */
export type Writer = { schema: string; revision: string | null; changed: boolean };

/** Answers null and notes this version, if it has every migration of the state; else who wrote the state. */
export async function otherWriter(state: string): Promise<Writer | null> {
  const [file, writerFile] = [join(state, "migrations"), join(state, "version.json")];
  const known = await migrationHashes();
  const isNew = !existsSync(join(state, "v3/d1"));
  const applied = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : isNew ? [] : ["unknown"];
  if (!applied.every((migration) => known.includes(migration))) {
    const { revision = null, changed = false } = writerIn(writerFile);
    return { schema: applied[0] === "unknown" ? "unknown" : fingerprintOf(applied), revision, changed };
  }
  writeFileSync(file, `${known.join("\n")}\n`, { mode: 0o600 });
  writeFileSync(writerFile, JSON.stringify(thisRevision()), { mode: 0o600 });
  return null;
}

function writerIn(file: string): { revision?: string; changed?: boolean } {
  try {
    const { revision, changed } = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    return { ...(typeof revision === "string" && { revision }), changed: changed === true };
  } catch {
    return {};
  }
}

const git = (...args: string[]) => spawnSync("git", args, { cwd: root, encoding: "utf8" });

/** The version of this checkout, where it is one; `changed`: its tables are not as they were committed. */
function thisRevision(): { revision: string | null; changed: boolean } {
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head.status !== 0) return { revision: null, changed: false };
  const { stdout } = git("status", "--porcelain", "--", "migrations", "durable-objects/*/schema.ts");
  return { revision: head.stdout.trim(), changed: stdout !== "" };
}

/** Tells how to take the data of an older state along, and how to begin without them. Each command can be pasted. */
export function olderState(
  state: string,
  { schema, revision, changed }: Writer,
  { port, current }: { port: number; current: string },
): string {
  const wrote = revision ?? "REVISION";
  const checkout = `../cairn-${wrote}`;
  const by = revision === null ? "a version that it does not name" : `revision ${revision}`;
  const find = `# REVISION: the one that wrote it, which you find in git log -- migrations 'durable-objects/*/schema.ts'\n`;
  return `The state in ${state} has other tables: schema ${schema}, written by ${by}. This version has ${current}.
CHANGELOG.md says what changed. Nothing was touched.

To keep the data, export them by the version that wrote them:

${revision === null ? find : ""}git worktree add ${checkout} ${wrote} && npm --prefix ${checkout} ci
${changed ? `# Its tables had changes that were not committed: make them in ${checkout} again.\n` : ""}CAIRN_STATE=${state} PORT=${port} npm --prefix ${checkout} start

and in another terminal, in this folder:

npm --prefix ${checkout} run export -- --all --url http://127.0.0.1:${port} --out "$PWD/cairn-export" --token "$(npm --prefix ${checkout} run --silent token -- --user '*' --scope read,admin)"

Then stop it, and begin anew:

mv ${state} ${state}-${schema}
npm start

and in another terminal, import what was exported, with the CAIRN_URL that npm start prints:

npm run import -- --dir cairn-export --token "$(npm run --silent token -- --user '*' --scope write)"

To begin without the data, only do the second part. For a state beside this one, set CAIRN_STATE to another folder.`;
}
