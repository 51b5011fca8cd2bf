import { partsIn, partKeys } from "../../../../src/domain/entry-parts.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { hasCode } from "../../../client/src/error.ts";
import type { Versioned } from "../../../client/src/http.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { WrittenEntry } from "../../../client/src/shapes.ts";
import { slices } from "../calls/slices.ts";
import { splitValue, UNNAMED_MS, readWhole, WRITES } from "./large-entries.ts";

/** Parts sent or read in parallel. */
const AT_ONCE = 4;

/** `LargeEntries` for the registry. There a call holds one entry, and the last call names the parts. */
export class LargeCacheValues {
  readonly #memory: Pick<Cairn, "cache">;

  constructor(memory: Pick<Cairn, "cache">) {
    this.#memory = memory;
  }

  async set(
    key: string,
    value: unknown,
    options: CallOptions & { ttlSeconds?: number | undefined },
  ): Promise<WrittenEntry> {
    const { cache } = this.#memory;
    const { signal } = options;
    for (let attempt = 1; ; attempt++) {
      const { parts, value: head } = splitValue(key, value);
      const unnamed = { ttlSeconds: UNNAMED_MS / 1000, signal };
      for (const some of slices(parts, AT_ONCE))
        await Promise.all(some.map((part) => cache.set(part.key, part.value, unnamed)));
      try {
        return await cache.set(key, head, options);
      } catch (error) {
        // Its parts were deleted together with the key's earlier value.
        const isGone = parts.length > 0 && hasCode(error, "parts_missing");
        if (!isGone || attempt === WRITES) throw error;
      }
    }
  }

  async get<T>(key: string, options: CallOptions): Promise<T | null> {
    return this.#whole<T>(key, await this.#memory.cache.get(key, options), options);
  }

  /** The whole value of this entry, or of its replacement; null if it was deleted meanwhile. */
  async versioned<T>(
    key: string,
    entry: Versioned<unknown> | null,
    options: CallOptions,
  ): Promise<Versioned<T> | null> {
    // The caller declares the stored type.
    if (entry === null || partsIn(entry.value) === null) return entry as Versioned<T> | null;
    let last: Versioned<unknown> | null = entry;
    const value = await readWhole<T>(key, entry.value, {
      head: async () => (last = await this.#memory.cache.getVersioned(key, options))?.value,
      parts: (keys) => this.#parts(keys, options),
    });
    return value === null ? null : { value, version: last.version };
  }

  /** Returns the value and deletes it with its parts. Of concurrent callers, one gets it. */
  async take<T>(key: string, options: CallOptions): Promise<T | null> {
    const { cache } = this.#memory;
    const entry = await cache.take(key, options);
    const value = await readWhole<T>(key, entry, {
      head: () => Promise.resolve(null),
      parts: (keys) => this.#parts(keys, options),
    });
    const named = partsIn(entry);
    // If a call fails, the remaining parts expire in minutes.
    if (named !== null)
      for (const some of slices(partKeys(key, named), AT_ONCE))
        await Promise.allSettled(some.map((part) => cache.forget(part, options)));
    return value;
  }

  #whole<T>(key: string, entry: unknown, options: CallOptions): Promise<T | null> {
    return readWhole<T>(key, entry, {
      head: (of) => this.#memory.cache.get(of, options),
      parts: (keys) => this.#parts(keys, options),
    });
  }

  async #parts(keys: readonly string[], options: CallOptions): Promise<unknown[]> {
    const parts: unknown[] = [];
    for (const some of slices(keys, AT_ONCE))
      parts.push(...(await Promise.all(some.map((key) => this.#memory.cache.get(key, options)))));
    return parts;
  }
}
