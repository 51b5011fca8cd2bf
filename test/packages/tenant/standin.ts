// Stands in for wrangler on the PATH: the double of the account, kept in a file from one command to the next.
import { readFileSync, writeFileSync } from "node:fs";
import { type Cloudflare, wrangler } from "./cloudflare.ts";

const file = process.env.CAIRN_TEST_ACCOUNT ?? "";
const account = JSON.parse(readFileSync(file, "utf8")) as Cloudflare & { killAt?: number };
const secretsFile = process.argv[process.argv.indexOf("--secrets-file") + 1] ?? "";
const secrets = process.argv.includes("--secrets-file")
  ? (JSON.parse(readFileSync(secretsFile, "utf8")) as Record<string, string>)
  : null;
if (process.argv[2] === "auth") {
  process.stdout.write(JSON.stringify({ type: "api_token", token: "a token of the test" }));
  process.exit(0);
}
const answer = wrangler(account, process.argv.slice(2), {
  secrets,
  read: (path) => readFileSync(path, "utf8"),
});
writeFileSync(file, JSON.stringify(account));
// The command that called this dies before it hears the answer.
if (account.killAt === account.calls.length) process.kill(process.ppid, "SIGKILL");
process.stdout.write(answer.stdout);
process.stderr.write(answer.stderr);
if (answer.entries !== "") writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH ?? "", answer.entries);
process.exitCode = answer.ok ? 0 : 1;
