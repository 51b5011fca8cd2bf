// `npm run import -- --file FILE --url URL --token TOKEN`: takes exports in (docs/reference/export.md).
import { openAsBlob } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ImportAnswer, ImportCounts } from "#domain/schema/transfer.ts";
import { FORMAT, OUTCOMES } from "#domain/transfer/format.ts";
import { linesOf } from "#domain/transfer/lines.ts";
import {
  ask,
  type Cairn,
  CannotGoOn,
  cairnOf,
  connect,
  optionsOf,
  pastFailures,
  refuse,
  run,
  Unreachable,
  userPath,
} from "./transfer/cairn.ts";
import { add, inWords, told } from "./transfer/counts.ts";
import { type Part, partsOf } from "./transfer/parts.ts";
import { calledAs } from "./transfer/called-as.ts";

/** By this name the published command finds the importers, which the build names in place of their source. */
const IMPORTERS = "@edgecairn/importers";

const usage = `usage: ${calledAs("import")} (--file FILE | --dir DIR) --url URL --token TOKEN [--user ID]
  --file      an export; may be given several times
  --dir       every .ndjson file of a directory
  --url       the address of Cairn, such as http://localhost:8787; default: CAIRN_URL
  --token     of '*', or of the user, with the scope write; default: CAIRN_TOKEN
  --user      imports one file for this user; default: the user of the export
  --location  where new users' objects are created, such as weur; default: near this machine

Existing data stays as it is, so the command can be repeated after a failure. It names each file that it could not
import completely, and continues with the others.

Exports of other systems: ${calledAs("import")} --from SOURCE, see ${calledAs("import")} --from mem0 --help`;

async function* linesIn(file: string): AsyncGenerator<string, void> {
  for await (const { n, line } of linesOf((await opened(file)).stream())) {
    if (!line.ok) throw new CannotGoOn(`${file}: line ${n} is too long, or not UTF-8.`);
    yield line.value;
  }
}

async function opened(file: string): Promise<Blob> {
  try {
    return await openAsBlob(file);
  } catch {
    throw new CannotGoOn(`${file} cannot be read.`);
  }
}

/** The user of an export, after a check that the file is complete. */
async function exportedUser(file: string): Promise<string> {
  let userId: string | null = null;
  let [count, last] = [0, ""];
  for await (const line of linesIn(file)) {
    count++;
    if (count === 1) userId = userOf(line);
    if (userId === null) break;
    last = line;
  }
  if (userId === null) throw new CannotGoOn(`${file} is no export of Cairn.`);
  const lines = linesTold(last);
  if (lines === null) throw new CannotGoOn(`${file} ends too early: its last line is missing. ${NOT_SENT}`);
  if (lines !== count)
    throw new CannotGoOn(`${file} is not whole: it has ${count} lines, of ${lines}. ${NOT_SENT}`);
  return userId;
}

const NOT_SENT = "Nothing of it was sent.";

/** The user of an export's first line; null if the line is none. */
function userOf(line: string): string | null {
  const { format, userId } = fieldsOf(line);
  return format === FORMAT && typeof userId === "string" ? userId : null;
}

/** The number of lines that an export's last line tells; null if the line is none. */
function linesTold(line: string): number | null {
  const { type, lines } = fieldsOf(line);
  return type === "end" && typeof lines === "number" ? lines : null;
}

/** The fields of a line. Cairn checks their shapes, as its schemas weigh more than all of this command. */
function fieldsOf(line: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(line)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function importFile(file: string, cairn: Cairn, to: string | undefined): Promise<void> {
  const sum = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, {}])) as ImportCounts;
  const exported = await exportedUser(file);
  const path = `${userPath(to ?? exported)}/import`;
  for await (const part of partsOf(linesIn(file))) {
    const answer = await sent(part, { file, cairn, path });
    for (const outcome of OUTCOMES) add(sum[outcome], answer[outcome]);
  }
  console.log(`${file}: ${told(sum)}`);
  if (Object.keys(sum.leftOut).length > 0)
    throw new CannotGoOn(`${file}: ${inWords(sum.leftOut).join(", ")} left out: ${WHY_LEFT_OUT}`);
}

const WHY_LEFT_OUT =
  "a thread that was here before stays as it is, and what was deleted here stays deleted (docs/reference/export.md).";

/** One request for all of it, where that is enough: then Cairn finds out what is missing, which in parts nobody can. */
async function sent(
  { body, from, whole }: Part,
  { file, cairn, path }: { file: string; cairn: Cairn; path: string },
): Promise<ImportAnswer> {
  const request = { method: "POST", body, type: "application/x-ndjson" };
  try {
    const response = await ask(cairn, whole ? path : `${path}?part=true`, request);
    return (await response.json()) as ImportAnswer;
  } catch (error) {
    if (!(error instanceof CannotGoOn) || error instanceof Unreachable) throw error;
    const which = whole ? "" : `, in the part that begins in line ${from}`;
    throw new CannotGoOn(`${file}${which}: ${error.message}`);
  }
}

async function exportsIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => {
    throw new CannotGoOn(`${dir} is not a readable folder.`);
  });
  return names
    .filter((name) => name.endsWith(".ndjson"))
    .toSorted()
    .map((name) => join(dir, name));
}

async function main(): Promise<void> {
  const options = {
    file: { type: "string", multiple: true },
    dir: { type: "string" },
    user: { type: "string" },
    location: { type: "string" },
  } as const;
  const { file = [], dir, user, help = false, ...given } = optionsOf(options, usage);
  if (help) return console.log(usage);
  const files = [...file, ...(dir === undefined ? [] : await exportsIn(dir))];
  if (files.length === 0 && dir !== undefined) throw new CannotGoOn(`${dir} holds no .ndjson file.`);
  if (files.length === 0) refuse("--file or --dir is required.", usage);
  if (user !== undefined && files.length > 1) refuse("--user goes with one file.", usage);
  const cairn = cairnOf(given, usage);
  await connect(cairn);
  const failed = await pastFailures(files, (one) => importFile(one, cairn, user));
  if (failed > 0 && files.length > 1)
    throw new CannotGoOn(`${failed} of ${files.length} files were not imported completely.`);
  if (failed > 0) process.exitCode = 1;
}

/** The importers are a package of their own, as most who call an API import nothing. */
async function importers(): Promise<typeof import("../importers/src/main.ts")> {
  try {
    return await import("../importers/src/main.ts");
  } catch (error) {
    if (!String(error).includes(`Cannot find package '${IMPORTERS}'`)) throw error;
    throw new CannotGoOn(
      `--from needs the package ${IMPORTERS}, beside the command. Install both here, and repeat the command:\n` +
        `npm install edgecairn ${IMPORTERS}`,
    );
  }
}

// Exports of other systems have options of their own.
if (process.argv.some((given) => /^--from(=|$)/.test(given)))
  await run(async () => (await importers()).importFrom());
else await run(main);
