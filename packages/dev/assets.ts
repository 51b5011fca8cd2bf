// Assembles the static assets of one environment: `node packages/dev/assets.ts OUT PART...`.
// Parts: `docs` (the API reference's script and style, from swagger-ui-dist, so that /docs works offline; and /llms.txt)
// `model` (the models in the Worker: static2-en-256 embeds where nothing else does, and ranks what recall finds everywhere;
// mini-en-256 embeds where it is chosen),
// `console` (the page of /console, which Vite builds when its sources have changed),
// and `tokenizer` (the ranks of o200k_base, for calls that count tokens by it).
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { RAW_ON_GITHUB, withLinks } from "./links.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const swagger = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
const ranks = join(root, "build/o200k_base.json");
const page = join(root, "build/console");
const llms = join(root, "build/llms.txt");
const parts: Record<string, [from: string, to: string][]> = {
  docs: [
    [join(root, "assets/docs"), "docs"],
    [join(swagger, "swagger-ui-bundle.js"), "docs/swagger-ui-bundle.js"],
    [join(swagger, "swagger-ui.css"), "docs/swagger-ui.css"],
    [llms, "llms.txt"],
  ],
  model: [[join(root, "assets/model"), "model"]],
  console: [[page, "."]],
  tokenizer: [[ranks, "model/o200k_base.json"]],
};

/** The files that make up the console. */
const CONSOLE_SOURCES = [
  "packages/console",
  "packages/client/src",
  "src/domain",
  "examples/support-case.json",
  "package-lock.json",
];

/** The time of the last change of a file, or of any in a folder. */
function changedAt(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((last, name) => Math.max(last, changedAt(join(path, name))), mtimeMs);
}

/** Builds the console, unless it was built after the last change of its sources. */
async function buildConsole(): Promise<boolean> {
  const built = statSync(page, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.max(...CONSOLE_SOURCES.map((path) => changedAt(join(root, path)))) < built) return false;
  const { build } = await import("vite");
  mkdirSync(join(root, "build"), { recursive: true });
  // Another process may be copying the former one.
  const made = mkdtempSync(join(root, "build/console-"));
  await build({
    configFile: join(root, "packages/console/vite.config.ts"),
    build: { outDir: made, emptyOutDir: true },
  });
  rmSync(page, { recursive: true, force: true });
  try {
    renameSync(made, page);
  } catch (error) {
    // Another process has built it meanwhile.
    if (!existsSync(page)) throw error;
    rmSync(made, { recursive: true });
  }
  return true;
}

/** True when `to` is not yet a copy of `from`; a copy in place is left alone, as a server may be serving it. */
function differs(from: string, to: string): boolean {
  const source = statSync(from);
  const copy = statSync(to, { throwIfNoEntry: false });
  return source.isDirectory() || copy?.size !== source.size || copy.mtimeMs < source.mtimeMs;
}

const [out, ...names] = process.argv.slice(2);
const unknown = names.find((name) => parts[name] === undefined);
if (out === undefined || names.length === 0 || unknown !== undefined) {
  console.error(`usage: node packages/dev/assets.ts OUT PART...   (parts: ${Object.keys(parts).join(", ")})`);
  process.exit(2);
}
if (names.includes("tokenizer") && !existsSync(ranks)) {
  const { default: tokens } = await import("gpt-tokenizer/bpeRanks/o200k_base");
  mkdirSync(dirname(ranks), { recursive: true });
  writeFileSync(ranks, JSON.stringify(tokens));
}
// A Worker has no pages: the links lead to their texts.
if (names.includes("docs")) {
  const text = withLinks(
    readFileSync(join(root, "llms.txt"), "utf8"),
    "llms.txt",
    (path) => `${RAW_ON_GITHUB}${path}`,
  );
  mkdirSync(dirname(llms), { recursive: true });
  if (!existsSync(llms) || readFileSync(llms, "utf8") !== text) writeFileSync(llms, text);
}
// The files of a former console have other names, and would stay.
if (names.includes("console") && (await buildConsole()))
  rmSync(join(root, out, "console"), { recursive: true, force: true });
// So have those of a former model.
if (names.includes("model")) {
  const folder = join(root, out, "model");
  const kept = new Set([...readdirSync(join(root, "assets/model")), basename(ranks)]);
  for (const name of existsSync(folder) ? readdirSync(folder) : [])
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true });
}
for (const [from, to] of names.flatMap((name) => parts[name] ?? []))
  cpSync(from, join(root, out, to), { recursive: true, filter: differs });
