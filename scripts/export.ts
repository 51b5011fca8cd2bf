// `npm run export -- --all --url URL --token TOKEN [--out DIR]`: everybody's memory, a file a user (docs/export.md).
import { createWriteStream, mkdirSync, renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { userHash } from "../src/domain/ids.ts";
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
  userPath,
} from "./transfer/cairn.ts";
import { calledAs } from "./called-as.ts";

const usage = `usage: ${calledAs("export")} (--all | --user ID) --url URL --token TOKEN [--out DIR]
  --all    every user of the tenant: a token of '*' with the scopes read and admin
  --user   one user; may be given several times
  --url    where Cairn runs, as in http://localhost:8787
  --token  may be in CAIRN_TOKEN instead
  --out    the directory of the files, <hash of the user>.ndjson each; ./cairn-export unless set

A directory is one backup: a whole file that is there is left as it is, so that a run which was stopped can be gone on with, and
what was written since is not in it. For a backup a night, take a new directory each: --out backup/$(date +%F). The files are
for your eyes only (0600), and so is a directory that is made for them (0700).`;

type User = { userId: string; userHash: string };
/** Attempts of one user's export that breaks off. */
const TRIES = 5;
/** Bytes at the end of an export that hold its last line. */
const TAIL = 200;
const END = /(?:^|\n)\{"type":"end","lines":(\d+)\}\n$/;
/** The first line and the last: nothing is kept of the user. */
const NOTHING = 2;

async function* allUsers(cairn: Cairn): AsyncGenerator<User, void> {
  for (let cursor: string | undefined = ""; cursor !== undefined;) {
    const path: string = `/v1/users?limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
    const page = (await (await ask(cairn, path)).json()) as { items: User[]; cursor?: string };
    yield* page.items;
    ({ cursor } = page);
  }
}

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
  console.log(`${written} users exported to ${out}${there > 0 ? `, ${there} were there` : ""}`);
  if (there > 0)
    console.log(
      `The oldest of those that were there is of ${new Date(oldest).toISOString()}, and has nothing of what was written since. ` +
        "A directory is one backup: take a new one for the next.",
    );
  if (failed > 0) throw new CannotGoOn(`${failed} were not exported.`);
});
