// `node packages/dev/local-database.ts STATE`: applies the migrations to the local database, as `wrangler d1 migrations apply` does,
// and notes them as it does. It starts in a quarter of wrangler's time, which each first `npm start` would wait for.
import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { convertV4MiniflareOptions, Miniflare } from "miniflare";
import { databaseId } from "./database-file.ts";

const root = join(import.meta.dirname, "../..");
const NOTES = `CREATE TABLE IF NOT EXISTS d1_migrations (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT UNIQUE,
  applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL
)`;

const [, , state = ""] = process.argv;
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    modules: true,
    script: "",
    resourcePersistencePath: join(state, "v3"),
    d1Databases: { DB: databaseId() },
  }),
);
try {
  const database = await miniflare.getD1Database("DB");
  await database.prepare(NOTES).run();
  const { results } = await database.prepare("SELECT name FROM d1_migrations").all<{ name: string }>();
  for (const file of globSync("migrations/*.sql", { cwd: root }).toSorted()) {
    const name = basename(file);
    if (results.some((applied) => applied.name === name)) continue;
    // One transaction.
    await database.batch([
      database.prepare(readFileSync(join(root, file), "utf8")),
      database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
    ]);
  }
} finally {
  await miniflare.dispose();
}
