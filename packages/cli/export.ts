// `npm run export -- --all --url URL --token TOKEN [--out DIR]`: everybody's memory, a file a user (docs/reference/export.md).
import { createWriteStream, mkdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { userHash } from "#domain/ids.ts";
import {
  allUsers,
  ask,
  type Cairn,
  CannotGoOn,
  cairnOf,
  connect,
  optionsOf,
  pastFailures,
  refuse,
  run,
  userPath,
} from "./transfer/cairn.ts";
import { calledAs } from "./transfer/called-as.ts";

const usage = `usage: ${calledAs("export")} (--all | --user ID) --url URL --token TOKEN [--out DIR]
  --all    every user of the tenant: needs a token of '*' with the scopes read and admin
  --user   one user; may be given several times
  --url    the address of Cairn, such as http://localhost:8787; default: CAIRN_URL
  --token  default: CAIRN_TOKEN
  --out    the directory of the files, one <hash of the user>.ndjson each; default: ./cairn-export

A directory is one backup. A run that was stopped continues: it keeps complete files, and so misses later writes.
For a backup every night, use a new directory each time: --out backup/$(date +%F).
Only you can read the files (0600) and the directory (0700).`;

/** Attempts of one user's export that breaks off. */
const TRIES = 5;
/** Bytes at the end of an export that hold its last line. */
const TAIL = 200;
const END = /(?:^|\n)\{"type":"end","lines":(\d+)\}\n$/;
/** The first line and the last: nothing is kept of the user. */
const NOTHING = 2;

/** Under another name until its last line has come: a file that is there is whole. Answers whether anything is in it. */
async function exportTo(file: string, cairn: Cairn, user: string): Promise<boolean> {
  const part = `${file}.part`;
  for (let attempt = 1; ; attempt++) {
    try {
      // A file left by another run may be readable by everybody.
      rmSync(part, { force: true });
      const lines = await download(part, cairn, user);
      if (lines === NOTHING) rmSync(part);
      else renameSync(part, file);
      return lines > NOTHING;
    } catch (error) {
      // A body that breaks off is no refusal: it is begun anew.
      if (error instanceof CannotGoOn) throw error;
      if (attempt === TRIES) throw new CannotGoOn(`the export of ${user} breaks off: ${String(error)}`);
      await sleep(1_000 * attempt);
    }
  }
}

/** Answers how many lines it has. */
async function download(part: string, cairn: Cairn, user: string): Promise<number> {
  const { body } = await ask(cairn, `${userPath(user)}/export`);
  if (body === null) throw new CannotGoOn("an export without a body");
  let tail = "";
  async function* watched() {
    for await (const chunk of body ?? []) {
      tail = (tail + Buffer.from(chunk).toString("latin1")).slice(-TAIL);
      yield chunk;
    }
  }
  await pipeline(Readable.from(watched()), createWriteStream(part, { mode: 0o600 }));
  const [, lines] = END.exec(tail) ?? [];
  if (lines === undefined) throw new Error("its last line is missing");
  return Number(lines);
}

/** When the export that is there was written, in milliseconds; null where there is none, or one without its last line. */
async function writtenAt(path: string): Promise<number | null> {
  const file = await open(path).catch(() => null);
  if (file === null) return null;
  try {
    const { size, mtimeMs } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL), 0, TAIL, Math.max(0, size - TAIL));
    return END.test(buffer.toString("latin1", 0, bytesRead)) ? mtimeMs : null;
  } finally {
    await file.close();
  }
}

const counted = (users: number): string => (users === 1 ? "1 user" : `${users} users`);

await run(async () => {
  const options = {
    all: { type: "boolean" },
    user: { type: "string", multiple: true },
    out: { type: "string" },
  } as const;
  const {
    all = false,
    user: named = [],
    out = "cairn-export",
    help = false,
    ...given
  } = optionsOf(options, usage);
  if (help) return console.log(usage);
  if (all === named.length > 0) refuse("Say either --all or --user.", usage);
  const cairn = cairnOf(given, usage);
  await connect(cairn);
  try {
    mkdirSync(out, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new CannotGoOn(`${out} cannot be made a directory: ${String(error)}`);
  }
  const users = all
    ? allUsers(cairn)
    : await Promise.all(named.map(async (userId) => ({ userId, userHash: await userHash(userId) })));
  let [written, there, oldest] = [0, 0, Infinity];
  const failed = await pastFailures(users, async ({ userId, userHash: hash }) => {
    const file = join(out, `${hash}.ndjson`);
    const before = await writtenAt(file);
    if (before !== null) {
      there++;
      oldest = Math.min(oldest, before);
    } else if (await exportTo(file, cairn, userId)) written++;
    // One of all may just have been erased.
    else if (!all) throw new CannotGoOn(`Nothing is kept of ${userId}: no file was written.`);
  });
  console.log(`${counted(written)} exported to ${out}${there > 0 ? `, ${there} were there` : ""}`);
  if (there > 0)
    console.log(
      `The oldest file that was there is from ${new Date(oldest).toISOString()}, without later writes. ` +
        "A directory is one backup: use a new one for the next.",
    );
  if (failed > 0) throw new CannotGoOn(`${counted(failed)} not exported.`);
});
