// The configuration of a Cairn that runs beside another Worker in wrangler's test harness.
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";

const root = join(import.meta.dirname, "../../..");

type Config = {
  main: string;
  alias: Record<string, string>;
  assets: object;
  build: object;
  d1_databases: object[];
  ai?: object;
};

/** A copy of wrangler.toml without `[ai]`, for which the harness wants an account. Its paths lead here from anywhere. */
export function cairnConfig(): string {
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
  const file = join(mkdtempSync(join(tmpdir(), "cairn-config-")), "wrangler.json");
  writeFileSync(file, JSON.stringify(local));
  return file;
}
