import { randomBytes } from "node:crypto";
import { appendFileSync, chmodSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** The repository's, whatever folder a script is started in. */
const DEV_VARS = join(import.meta.dirname, "../../.dev.vars");

/** The development secret in `.dev.vars`. Made at random if there is none, kept if there is; only the file's owner reads it. */
export function developmentSecret(file = DEV_VARS): string {
  const kept = keptSecret(file);
  if (kept !== undefined) return kept;
  const secret = randomBytes(32).toString("base64url");
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  const newline = text === "" || text.endsWith("\n") ? "" : "\n";
  appendFileSync(file, `${newline}CAIRN_SECRET=${secret}\n`, { mode: 0o600 });
  return secret;
}

/** The secret that the file holds, if it is there and holds one. */
function keptSecret(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  // Before a secret is written to it: `mode` above counts for a file that is new.
  if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
  return /^\s*CAIRN_SECRET\s*=\s*"?([^"\r\n]*)"?\s*$/m.exec(readFileSync(file, "utf8"))?.[1];
}
