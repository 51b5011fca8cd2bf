// `npm run import -- --file FILE --url URL --token TOKEN`: takes exports in (docs/export.md).
import { openAsBlob } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { z } from "zod";
import {
  EndLine,
  ExportHeader,
  type ImportAnswer,
  type ImportCounts,
  OUTCOMES,
} from "../src/domain/schema/transfer.ts";
import { linesOf } from "../src/worker/transfer/lines.ts";
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
import { calledAs } from "./called-as.ts";

const usage = `usage: ${calledAs("import")} (--file FILE | --dir DIR) --url URL --token TOKEN [--user ID]
  --file   an export; may be given several times
  --dir    every .ndjson file of a directory
  --url    where Cairn runs, as in http://localhost:8787
  --token  may be in CAIRN_TOKEN instead; of '*', or of the user, with the scope write
  --user   whose memory it becomes, for one file; that of the user it was exported of unless set

What is there stays as it is: run it again to go on where it broke off. A file that cannot be taken in, or not all of it, is
named, and the others are.`;

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
    if (count === 1) userId = shapeOf(ExportHeader, line)?.userId ?? null;
    if (userId === null) break;
    last = line;
  }
  if (userId === null) throw new CannotGoOn(`${file} is no export of Cairn.`);
  const end = shapeOf(EndLine, last);
  if (end === null) throw new CannotGoOn(`${file} ends too early: its last line is missing. ${NOT_SENT}`);
  if (end.lines !== count)
    throw new CannotGoOn(`${file} is not whole: it has ${count} lines, of ${end.lines}. ${NOT_SENT}`);
  return userId;
}

const NOT_SENT = "Nothing of it was sent.";

function shapeOf<T>(shape: z.ZodType<T>, line: string): T | null {
  try {
    return shape.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
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
  "a thread that was here before stays as it is, and what was deleted here stays deleted (docs/export.md).";

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

await run(async () => {
  const options = {
    file: { type: "string", multiple: true },
    dir: { type: "string" },
    user: { type: "string" },
  } as const;
  const { file = [], dir, user, help = false, ...given } = optionsOf(options, usage);
  if (help) return console.log(usage);
  const files = [...file, ...(dir === undefined ? [] : await exportsIn(dir))];
  if (files.length === 0) refuse("Say --file or --dir, with an export in it.", usage);
  if (user !== undefined && files.length > 1) refuse("--user goes with one file.", usage);
  const cairn = cairnOf(given, usage);
  await connect(cairn);
  const failed = await pastFailures(files, (one) => importFile(one, cairn, user));
  if (failed > 0 && files.length > 1)
    throw new CannotGoOn(`${failed} of ${files.length} files were not imported completely.`);
  if (failed > 0) process.exitCode = 1;
});
