// The command as a person at a terminal runs it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { run } from "../../node/run.ts";

export const folder = mkdtempSync(join(tmpdir(), "cairn-import-from-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** The path of a new file with this content. */
export function written(content: unknown): string {
  const path = join(folder, `${++files}.json`);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

export async function command(args: string[], env: Record<string, string> = {}) {
  const { output, ended } = run("packages/cli/import.ts", args, { CAIRN_URL: "", CAIRN_TOKEN: "", ...env });
  const code = await ended;
  // A slow machine is told how far it is.
  return {
    code,
    stdout: output.stdout,
    stderr: output.stderr.replaceAll(/^(reading|sending): \d+ %\n/gm, ""),
  };
}
