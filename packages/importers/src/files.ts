// The files of an export.
import { createReadStream } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { CannotGoOn } from "../../cli/transfer/cairn.ts";
import type { Source } from "./source.ts";

/** `given`: the path that was named: the file, or its folder. */
export type ExportFile = { path: string; bytes: number; given: string };

/** The files that were named, and those of interest in the folders that were named. Throws `CannotGoOn` for a zip file. */
export async function filesOf(given: readonly string[], source: Source): Promise<ExportFile[]> {
  const found: ExportFile[] = [];
  for (const path of given) {
    const about = await stat(path).catch(() => {
      throw new CannotGoOn(`${path} cannot be read.`);
    });
    if (!about.isDirectory()) {
      await refuseZip(path);
      found.push({ path, bytes: about.size, given: path });
      continue;
    }
    const names = (await readdir(path, { recursive: true }))
      .filter((name) => source.files.test(name))
      .toSorted();
    if (names.length === 0)
      throw new CannotGoOn(`${path} holds no file of such an export (docs/reference/import.md).`);
    for (const name of names)
      found.push({ path: join(path, name), bytes: (await stat(join(path, name))).size, given: path });
  }
  return found;
}

async function refuseZip(path: string): Promise<void> {
  const file = await open(path).catch(() => {
    throw new CannotGoOn(`${path} cannot be read.`);
  });
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    if (bytesRead === 4 && buffer.toString("latin1") === "PK\u0003\u0004")
      throw new CannotGoOn(
        `${path} is a zip file. Unpack it, and name the folder:\n  unzip ${path} -d export\n` +
          "On Windows: Expand-Archive instead of unzip.",
      );
  } finally {
    await file.close();
  }
}

/** Tells at the terminal how far it is, at most every two seconds. */
export class Progress {
  #told = Date.now();
  #bytes = 0;
  readonly #total: number;
  readonly #doing: string;

  constructor(doing: string, files: readonly ExportFile[]) {
    this.#doing = doing;
    this.#total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** The bytes of a file, as they are read. */
  async *read({ path }: ExportFile): AsyncGenerator<Uint8Array, void> {
    try {
      for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
        yield chunk as Uint8Array;
        this.#bytes += (chunk as Uint8Array).length;
        if (Date.now() - this.#told < EVERY_MS) continue;
        this.#told = Date.now();
        console.error(`${this.#doing}: ${Math.floor((100 * this.#bytes) / Math.max(1, this.#total))} %`);
      }
    } catch (error) {
      if (error instanceof Error && "syscall" in error)
        throw new CannotGoOn(`${path} cannot be read: ${error.message}`);
      throw error;
    }
  }
}

const EVERY_MS = 2_000;
