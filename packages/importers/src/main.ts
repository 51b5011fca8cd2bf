// `import --from SOURCE FILE… --user ID`: takes in what other systems exported (docs/reference/import.md). The command calls `importFrom`,
// with the options in the process's arguments.
import { parseArgs } from "node:util";
import { CairnError } from "../../client/src/index.ts";
import { userId } from "../../../src/domain/schema/bounds.ts";
import { name as scopeName } from "../../../src/domain/schema/memory-fields.ts";
import { calledAs } from "../../cli/transfer/called-as.ts";
import { CannotGoOn, cairnOf, connect, refuse, run } from "../../cli/transfer/cairn.ts";
import { filesOf } from "./files.ts";
import { itemsOf, NO_USER, type Pass } from "./items.ts";
import { Outcome, Survey } from "./report.ts";
import { send } from "./send.ts";
import { SOURCES } from "./source.ts";
import { sources } from "./sources/index.ts";

const usage = `usage: ${calledAs("import")} --from ${SOURCES.join("|")} FILE… --url URL --token TOKEN [--user ID]
  FILE          a JSON file of the export, or the folder that holds it
  --url         the address of Cairn; default: CAIRN_URL
  --token       of '*', or of the user, with the scopes read and write; default: CAIRN_TOKEN
  --user        imports everything for this user; default: the users that the export names
  --user-field  the field of the export that names the user, such as metadata.customer
  --scope       the scope of the imported memories
  --location    where new users' objects are created, such as weur; default: near this machine
  --extract     starts an ingest of each imported thread, which extracts memories in the background
  --dry-run     counts what the export holds, and sends nothing

The command reads all files before it sends anything. It can be repeated after a failure: what is there stays.`;

const OPTIONS = {
  from: { type: "string" },
  url: { type: "string" },
  token: { type: "string" },
  user: { type: "string" },
  "user-field": { type: "string" },
  scope: { type: "string" },
  location: { type: "string" },
  extract: { type: "boolean" },
  "dry-run": { type: "boolean" },
  help: { type: "boolean" },
} as const;

function argumentsOf() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

/** Runs the command. */
export const importFrom = (): Promise<void> => run(importExport);

async function importExport(): Promise<void> {
  const { values, positionals } = argumentsOf();
  const { from, user, "user-field": userField, scope, extract = false } = values;
  if (values.help === true) return console.log(usage);
  const name = SOURCES.find((one) => one === from);
  if (name === undefined) return refuse(`--from: '${from}' is none of ${SOURCES.join(", ")}.`, usage);
  if (positionals.length === 0) refuse("Name a file of the export, or its folder.", usage);
  if (user !== undefined && userField !== undefined)
    refuse("--user and --user-field exclude each other.", usage);
  refuseWrong("--user", userId.optional().safeParse(user));
  refuseWrong("--scope", scopeName.optional().safeParse(scope));
  const isDry = values["dry-run"] === true;
  const address = isDry ? null : cairnOf(values, usage);
  const source = sources[name];
  const files = await filesOf(positionals, source);
  const pass: Pass = { name, source, files, user, userField, scope, now: Date.now(), names: new Map() };
  const survey = await surveyOf(pass);
  for (const line of survey.lines()) console.log(line);
  if (address === null) return console.log("Nothing was sent: this was a dry run.");
  await connect(address);
  const outcome = new Outcome();
  try {
    await send(pass, { address, outcome, extract });
  } catch (error) {
    const isRefused = error instanceof CairnError;
    if (!isRefused && !(error instanceof CannotGoOn)) throw error;
    for (const line of outcome.lines()) console.log(line);
    const call = isRefused && error.call !== undefined ? `${error.call}: ` : "";
    throw new CannotGoOn(
      `${call}${error.message}\nThe import is incomplete. Repeat the command to continue it.`,
    );
  }
  for (const line of outcome.lines()) console.log(line);
  if (outcome.failed.count > 0) process.exitCode = 1;
}

function refuseWrong(
  option: string,
  { error }: { error?: { issues: readonly { message: string }[] } | undefined },
): void {
  if (error !== undefined) refuse(`${option} ${error.issues[0]?.message ?? "is wrong"}.`, usage);
}

/** Reads all of the export, so that a wrong file is refused before anything is sent. */
async function surveyOf(pass: Pass): Promise<Survey> {
  const survey = new Survey();
  if (pass.source.readsAhead === true) for await (const _ of itemsOf(pass, "reading")) continue;
  for await (const item of itemsOf(pass, "reading"))
    if (item.type === "memory") survey.memory(item.user, item.memory.kind);
    else if (item.type === "thread") survey.thread(item.user, item.thread.messages.length);
    else survey.remark(item);
  if (survey.users.size === 0 && survey.skipped.has(NO_USER))
    refuse("The export names no users: name one with --user.", usage);
  return survey;
}
