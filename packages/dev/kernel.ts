// `npm run kernel`: makes the modules of WebAssembly of their texts. `--check` only says whether they are of them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import wabt from "wabt";

const kernels = ["src/platform/vectors/kernel/dots", "src/platform/embeddings/mini/transformer"];

const root = join(import.meta.dirname, "../..");
const tools = await wabt();
for (const kernel of kernels) {
  const [text, binary] = [`${kernel}.wat`, `${kernel}.wasm`];
  const module = tools.parseWat(text, readFileSync(join(root, text), "utf8"), { simd: true });
  module.validate();
  const { buffer } = module.toBinary({});
  if (!process.argv.includes("--check")) writeFileSync(join(root, binary), buffer);
  else if (!readFileSync(join(root, binary)).equals(buffer)) {
    console.error(`${binary} is not what ${text} says: npm run kernel`);
    process.exitCode = 1;
  }
}
