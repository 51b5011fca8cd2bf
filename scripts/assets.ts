// Assembles the static assets of one environment: `node scripts/assets.ts OUT PART...`.
// Parts: `docs` (the API reference's script and style, from swagger-ui-dist, so that /docs works offline)
// `model` (the embedded model: it embeds where nothing else does, and ranks what recall finds everywhere),
// `tokenizer` (the ranks of o200k_base, for calls that count tokens by it),
// and `minilm` (the model minilm-l6, if `npm run minilm` has made it).
import { cpSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const swagger = dirname(fileURLToPath(import.meta.resolve("swagger-ui-dist/package.json")));
const minilm = join(root, "build/minilm");
const ranks = join(root, "build/o200k_base.json");
const parts: Record<string, [from: string, to: string][]> = {
  docs: [
    [join(root, "assets/docs"), "docs"],
    [join(swagger, "swagger-ui-bundle.js"), "docs/swagger-ui-bundle.js"],
    [join(swagger, "swagger-ui.css"), "docs/swagger-ui.css"],
  ],
  model: [[join(root, "assets/model"), "model"]],
  tokenizer: [[ranks, "model/o200k_base.json"]],
  minilm: [[minilm, "model/minilm-l6"]].filter(() => existsSync(minilm)) as [string, string][],
};

/** True when `to` is not yet a copy of `from`; a copy in place is left alone, as a server may be serving it. */
function differs(from: string, to: string): boolean {
  const source = statSync(from);
  const copy = statSync(to, { throwIfNoEntry: false });
  return source.isDirectory() || copy?.size !== source.size || copy.mtimeMs < source.mtimeMs;
}

const [out, ...names] = process.argv.slice(2);
const unknown = names.find((name) => parts[name] === undefined);
if (out === undefined || names.length === 0 || unknown !== undefined) {
  console.error(`usage: node scripts/assets.ts OUT PART...   (parts: ${Object.keys(parts).join(", ")})`);
  process.exit(2);
}
if (names.includes("tokenizer") && !existsSync(ranks)) {
  const { default: tokens } = await import("gpt-tokenizer/bpeRanks/o200k_base");
  mkdirSync(dirname(ranks), { recursive: true });
  writeFileSync(ranks, JSON.stringify(tokens));
}
for (const [from, to] of names.flatMap((name) => parts[name] ?? []))
  cpSync(from, join(root, out, to), { recursive: true, filter: differs });
