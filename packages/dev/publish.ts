// `npm run release`: publishes each tarball of build/pack whose version npm does not have. With `--dry-run` npm only says what
// it would do. In CI npm takes the identity of the workflow, so there is no token.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit } from "node:process";
import type { Packed } from "./pack.ts";

const folder = join(import.meta.dirname, "../../build/pack");
const unknown = argv.slice(2).find((option) => option !== "--dry-run");
if (unknown !== undefined) {
  console.error(`publish.ts has no option '${unknown}'. It has --dry-run.`);
  exit(2);
}
const isDry = argv.includes("--dry-run");

/** True if npm has the version. Any other failure than that it has not ends the run: to publish might be wrong. */
function isPublished({ name, version }: Packed): boolean {
  const { status, stdout, stderr } = spawnSync("npm", ["view", `${name}@${version}`, "version"], {
    encoding: "utf8",
  });
  if (status === 0) return stdout.trim() !== "";
  if (stderr.includes("E404")) return false;
  throw new Error(`npm does not say whether ${name} is published: ${stderr}`);
}

const packed = JSON.parse(readFileSync(join(folder, "index.json"), "utf8")) as Packed[];
for (const one of packed) {
  if (isPublished(one)) {
    console.log(`${one.name}@${one.version} is published already.`);
    continue;
  }
  // A dry run has no identity to sign with.
  const options = isDry ? ["--dry-run"] : ["--provenance"];
  const { status } = spawnSync(
    "npm",
    ["publish", join(folder, one.filename), "--access", "public", ...options],
    { stdio: "inherit" },
  );
  if (status !== 0) exit(status ?? 1);
}
