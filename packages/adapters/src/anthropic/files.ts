import type { Cairn } from "../../../client/src/cairn.ts";
import { hasCode } from "../../../client/src/error.ts";
import type { BatchOperation } from "../../../client/src/shapes.ts";
import { ancestorsOf } from "./paths.ts";

type FilesOptions = {
  memory: Pick<Cairn, "kv">;
  user: string;
  /** Prepended to the paths in the keys. */
  prefix: string;
  ttlMs: number | undefined;
  signal: AbortSignal | undefined;
};

export type MemoryFile = { path: string; text: string; version: string };

/** A write. With `ifVersion` null it succeeds only if there is no such file. */
export type Write = { path: string; text: string | null; ifVersion: string | null };

/** Limits of a batch: operations, and bytes of a body (16 MiB) with room for the JSON around the values. */
const OPERATIONS = 1000;
const BATCH_BYTES = 15 * 1024 * 1024;

/** Files in a user's entries: one entry a file, its key the prefix and the path, its value the text. */
export class MemoryFiles {
  readonly #options: FilesOptions;

  constructor(options: FilesOptions) {
    this.#options = options;
  }

  /** Null if there is no such file. Throws if the key holds an entry that is not a file. */
  async find(path: string): Promise<MemoryFile | null> {
    const { memory, user, signal } = this.#options;
    const found = await memory.kv.getVersioned(user, this.#key(path), { signal });
    if (found === null) return null;
    if (typeof found.value !== "string") throw new Error(`Unsupported file type for ${path}`);
    return { path, text: found.value, version: found.version };
  }

  /** True if there is a file below this path. */
  async isDirectory(path: string): Promise<boolean> {
    const { memory, user, signal } = this.#options;
    const { items } = await memory.kv.list(user, { prefix: this.#key(`${path}/`), limit: 1 }, { signal });
    return items.length > 0;
  }

  /** True if the path is a file or a directory. */
  async exists(path: string): Promise<boolean> {
    const [[isFile], directory] = await Promise.all([this.#areFiles([path]), this.isDirectory(path)]);
    return isFile === true || directory;
  }

  /** The nearest parent of a path that is a file, in which nothing can be created. */
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

  /** Writes all or none, once even if the call is resent. False if another writer was first. */
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

  /** Returns true if the file existed. */
  async remove(path: string): Promise<boolean> {
    const { memory, user, signal } = this.#options;
    const { results } = await memory.kv.batch(user, [{ op: "delete", key: this.#key(path) }], { signal });
    return results[0]?.deleted === true;
  }

  /** Removes all files below a path in one step. */
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

/** True if one batch can hold the writes. */
export const fitsOneBatch = (writes: readonly Write[]): boolean =>
  writes.length <= OPERATIONS && bytesOf(JSON.stringify(writes)) <= BATCH_BYTES;

/** Length in UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength;
