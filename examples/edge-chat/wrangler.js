// Runs the wrangler of this project, and makes the secret of the memory.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const command = join(dirname(createRequire(import.meta.url).resolve("wrangler")), "../bin/wrangler.js");
export const CAIRN = ["-c", "cairn/wrangler.toml"];

/** Starts wrangler in this folder; `ended` resolves with its exit code. */
export function wrangler(...args) {
  const child = spawn(process.execPath, [command, ...args], { cwd: import.meta.dirname, stdio: "inherit" });
  const ended = new Promise((resolve) => void child.once("exit", (code) => resolve(code ?? 1)));
  return { child, ended };
}

/** Ends this process with the code of a command that failed. */
export async function run(...args) {
  const code = await wrangler(...args).ended;
  if (code !== 0) process.exit(code);
}

/** The file with the secret, which Cairn signs its receipts with. Keep it, and keep it out of git. */
export function secretFile() {
  const file = join(import.meta.dirname, "cairn/.dev.vars");
  if (!existsSync(file))
    writeFileSync(file, `CAIRN_SECRET=${randomBytes(48).toString("base64")}\n`, { mode: 0o600 });
  return file;
}
