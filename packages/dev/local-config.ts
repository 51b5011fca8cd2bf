// The configuration of a Cairn that runs beside another Worker in one process of wrangler, without an account.
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";

const root = join(import.meta.dirname, "../..");

type Config = {
  main: string;
  alias: Record<string, string>;
  assets: object;
  build: object;
  d1_databases: object[];
  ai?: object;
};

/**
 * Writes a copy of wrangler.toml without `[ai]` into the folder, beside a copy of `.dev.vars`, and returns its path. For
 * `[ai]` wrangler asks for an account: its `--local` counts for the first of several configurations only.
 */
export function localConfig(folder: string): string {
  // Cairn's own file, which has these.
  const { ai: _, ...config } = parse(readFileSync(join(root, "wrangler.toml"), "utf8")) as unknown as Config;
  const alias = Object.entries(config.alias).map(([name, path]) => [name, join(root, path)]);
  const local = {
    ...config,
    main: join(root, config.main),
    alias: Object.fromEntries(alias),
    assets: { ...config.assets, directory: join(root, "build/assets") },
    build: { ...config.build, cwd: root },
    d1_databases: config.d1_databases.map((one) => ({ ...one, migrations_dir: join(root, "migrations") })),
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "wrangler.json");
  writeFileSync(file, JSON.stringify(local));
  const vars = join(root, ".dev.vars");
  if (existsSync(vars)) copyFileSync(vars, join(folder, ".dev.vars"));
  return file;
}
