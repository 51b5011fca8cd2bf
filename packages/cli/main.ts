#!/usr/bin/env node
// `npx edgecairn token|export|import|restore|doctor|mcp`: the commands of the repository that need nothing but a Cairn's address, as the build of
// packages/client bundles them.
import { argv, env, exit } from "node:process";
import { version } from "../client/package.json";

const commands: Record<string, () => Promise<unknown>> = {
  token: () => import("./token.ts"),
  export: () => import("./export.ts"),
  import: () => import("./import.ts"),
  restore: () => import("./restore.ts"),
  doctor: () => import("./doctor.ts"),
  mcp: () => import("./mcp.ts"),
};

const [, , name = ""] = argv;
const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
if (name === "--version") {
  console.log(version);
  exit(0);
}
if (command === undefined) {
  if (name !== "" && name !== "--help") console.error(`edgecairn: '${name}' is not a command.\n`);
  console.error(`usage: edgecairn ${Object.keys(commands).join("|")} …
  token   mints a token with the secret in CAIRN_SECRET
  export  writes a tenant's memory to files
  import  reads such files into a Cairn; with --from SOURCE, the exports of other systems,
          for which it needs the package @edgecairn/importers
  restore sets users back to an earlier time
  doctor  says what is wrong with a deployment, and what to do
  mcp     prints how Claude Code, Codex, Cursor or VS Code gets a Cairn

edgecairn COMMAND --help prints the options of one.`);
  exit(name === "--help" ? 0 : 2);
}
// In the repository, `npm run token` makes a secret for development. Anywhere else a new secret would open nothing.
if (name === "token" && env.CAIRN_SECRET === undefined && !argv.includes("--help")) {
  console.error("Set CAIRN_SECRET to the secret of the deployment.");
  exit(2);
}
// The commands read their options from the arguments that follow the program's name.
argv.splice(2, 1);
await command();
