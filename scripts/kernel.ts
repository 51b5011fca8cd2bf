// `npm run kernel`: makes src/platform/vectors/kernel/dots.wasm of its text. `--check` only says whether it is of it.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import wabt from "wabt";

const path = (name: string) =>
  fileURLToPath(new URL(`../src/platform/vectors/kernel/${name}`, import.meta.url));

const tools = await wabt();
const module = tools.parseWat("dots.wat", readFileSync(path("dots.wat"), "utf8"), { simd: true });
module.validate();
const binary = module.toBinary({}).buffer;
if (!process.argv.includes("--check")) writeFileSync(path("dots.wasm"), binary);
else if (!readFileSync(path("dots.wasm")).equals(binary)) {
  console.error("src/platform/vectors/kernel/dots.wasm is not what dots.wat says: npm run kernel");
  process.exitCode = 1;
}
