// `npm run import -- --file FILE --url URL --token TOKEN`: takes exports in (docs/export.md).
import { openAsBlob } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ExportHeader, type ImportAnswer } from "../src/schema/transfer.ts";
import { linesOf } from "../src/transfer/lines.ts";
import { ask, type Cairn, CannotGoOn, cairnOf, refuse, run, userPath } from "./transfer/cairn.ts";

const usage = `usage: npm run import -- (--file FILE | --dir DIR) --url URL --token TOKEN [--user ID]
  --file   an export; may be given several times
  --dir    every .ndjson file of a directory
  --url    where Cairn runs, as in http://localhost:8787
  --token  may be in CAIRN_TOKEN instead; of '*', or of the user, with the scope write
  --user   whose memory it becomes, for one file; that of the user it was exported of unless set

What is there stays as it is: run it again to go on where it broke off.`;

/** Bytes of one request: Cloudflare takes 100 MB on the smallest plan, and a request has its time. */
const PART_BYTES = 16 * 1024 * 1024;
/** The versions of a memory go together. */
const LATER_VERSION = /^\{"type":"memory","id":"[^"]*","version":(?!1,)/;

/** The file in parts of whole lines, each behind the first line. */
async function* partsOf(
  file: string,
): AsyncGenerator<{ userId: string; part: Uint8Array<ArrayBuffer> }, void> {
  const lines = linesOf((await openAsBlob(file)).stream());
  const first = await lines.next();
  const header = first.value?.line.ok === true ? first.value.line.value : "";
  const userId = exportedUser(header);
  if (userId === null) throw new CannotGoOn(`${file} is no export of Cairn.`);
  const head = Buffer.from(`${header}\n`);
  let [part, bytes] = [[head], head.length];
  for await (const { n, line } of lines) {
    if (!line.ok) throw new CannotGoOn(`${file}: line ${n} is too long, or no UTF-8.`);
    if (bytes >= PART_BYTES && !LATER_VERSION.test(line.value)) {
      yield { userId, part: Buffer.concat(part) };
      [part, bytes] = [[head], head.length];
    }
    const next = Buffer.from(`${line.value}\n`);
    part.push(next);
    bytes += next.length;
  }
  yield { userId, part: Buffer.concat(part) };
}

function exportedUser(header: string): string | null {
  try {
    return ExportHeader.safeParse(JSON.parse(header)).data?.userId ?? null;
  } catch {
    return null;
  }
}

async function importFile(file: string, cairn: Cairn, to: string | undefined): Promise<void> {
  const sum: Record<string, number> = {};
  let answer: ImportAnswer | null = null;
  for await (const { userId, part } of partsOf(file)) {
    const path = `${userPath(to ?? userId)}/import`;
    const response = await ask(cairn, path, { method: "POST", body: part, type: "application/x-ndjson" });
    answer = (await response.json()) as ImportAnswer;
    for (const outcome of ["imported", "there", "expired"] as const)
      for (const [what, n] of Object.entries(answer[outcome])) {
        const name = `${what} ${outcome}`;
        sum[name] = (sum[name] ?? 0) + n;
      }
  }
  const told = Object.entries(sum).map(([what, n]) => `${n} ${what}`);
  console.log(`${file}: ${told.join(", ") || "nothing in it"}`);
  if (answer?.complete !== true) throw new CannotGoOn(`${file} ends too early: its last line is missing.`);
}

function options() {
  try {
    return parseArgs({
      options: {
        file: { type: "string", multiple: true },
        dir: { type: "string" },
        user: { type: "string" },
        url: { type: "string" },
        token: { type: "string" },
        help: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error), usage);
  }
}

await run(async () => {
  const { file = [], dir, user, help = false, ...given } = options();
  if (help) return console.log(usage);
  const found = dir === undefined ? [] : (await readdir(dir)).filter((name) => name.endsWith(".ndjson"));
  const files = [...file, ...found.toSorted().map((name) => join(dir ?? "", name))];
  if (files.length === 0) refuse("Say --file or --dir, with an export in it.", usage);
  if (user !== undefined && files.length > 1) refuse("--user goes with one file.", usage);
  const cairn = cairnOf(given, usage);
  for (const one of files) await importFile(one, cairn, user);
});
