import type { Cairn } from "../../cairn.ts";
import { hasCode } from "../../error.ts";
import type { BatchOperation } from "../../shapes.ts";
import { ancestorsOf } from "./paths.ts";

export type FilesOptions = {
  memory: Pick<Cairn, "kv">;
  user: string;
  /** What stands before the paths in the keys. */
  prefix: string;
  ttlMs: number | undefined;
  signal: AbortSignal | undefined;
};

export type MemoryFile = { path: string; text: string; version: string };

/** A write and its `ifVersion`: null, only if there is nothing. */
export type Write = { path: string; text: string | null; ifVersion: string | null };

/** What one batch takes: operations, and bytes of a body (16 MiB) with room for what is around the values. */
const OPERATIONS = 1000;
const BATCH_BYTES = 15 * 1024 * 1024;

/** Files in a user's entries: one entry a file, its key the prefix and the path, its value the text. */
export class MemoryFiles {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Null if there is no such file. Throws of an entry that is none: something else has that key. */
  async find(path: string): Promise<MemoryFile | null> {
    const { memory, user, signal } = this.#options;
    const found = await memory.kv.getVersioned(user, this.#key(path), { signal });
    if (found === null) return null;
    if (typeof found.value !== "string") throw new Error(`Unsupported file type for ${path}`);
    return { path, text: found.value, version: found.version };
  }

  /** Whether a file is somewhere under this path. */
  async isDirectory(path: string): Promise<boolean> {
    const { memory, user, signal } = this.#options;
    const { items } = await memory.kv.list(user, { prefix: this.#key(`${path}/`), limit: 1 }, { signal });
    return items.length > 0;
  }

  /** Whether there is anything at this path. */
  async exists(path: string): Promise<boolean> {
    const [[isFile], directory] = await Promise.all([this.#areFiles([path]), this.isDirectory(path)]);
    return isFile === true || directory;
  }

  /** The nearest of a path's directories that is a file, so that nothing can be in it. */
  async fileAbove(path: string): Promise<string | undefined> {
    const above = ancestorsOf(path);
    if (above.length === 0) return undefined;
    const areFiles = await this.#areFiles(above);
    return above.find((_, i) => areFiles[i]);
  }

  /** All files under a path, in byte order of their paths. */
  async *under(path: string): AsyncGenerator<MemoryFile, void> {
    const { memory, user, signal, prefix } = this.#options;
    const query = { prefix: this.#key(`${path}/`), values: true };
    for await (const { key, value, version } of memory.kv.all(user, query, { signal }))
      if (typeof value === "string") yield { path: key.slice(prefix.length), text: value, version };
  }

  /** All of them or none, and each once, however often the call is sent; false if another writer was first. */
  async write(writes: readonly Write[]): Promise<boolean> {
    const { memory, user, ttlMs, signal } = this.#options;
    const lifetime = ttlMs === undefined ? {} : { ttlMs, refreshOnRead: true };
    const operations = writes.map(({ path, text, ifVersion }): BatchOperation => {
      const key = this.#key(path);
      return text === null
        ? { op: "delete", key, ifVersion }
        : { op: "set", key, value: text, ifVersion, ...lifetime };
    });
    try {
      await memory.kv.batch(user, operations, { signal });
      return true;
    } catch (error) {
      if (hasCode(error, "precondition_failed")) return false;
      throw error;
    }
  }

  /** Whether there was such a file. */
  async remove(path: string): Promise<boolean> {
    const { memory, user, signal } = this.#options;
    const { results } = await memory.kv.batch(user, [{ op: "delete", key: this.#key(path) }], { signal });
    return results[0]?.deleted === true;
  }

  /** Removes all that is under a path in one step. */
  async removeUnder(path: string): Promise<void> {
    const { memory, user, signal } = this.#options;
    await memory.kv.deletePrefix(user, this.#key(`${path}/`), { signal });
  }

  async #areFiles(paths: readonly string[]): Promise<boolean[]> {
    const { memory, user, signal } = this.#options;
    const gets = paths.map((path) => ({ op: "get" as const, key: this.#key(path) }));
    const { results } = await memory.kv.batch(user, gets, { signal });
    return results.map(({ found }) => found === true);
  }

  #key(path: string): string {
    return this.#options.prefix + path;
  }
}

/** Whether so much can be written in one step. */
export const fitsOneBatch = (writes: readonly Write[]): boolean =>
  writes.length <= OPERATIONS && bytesOf(JSON.stringify(writes)) <= BATCH_BYTES;

/** Bytes of UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength;
