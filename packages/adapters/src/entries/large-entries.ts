import {
  HEAD_BYTES,
  type InParts,
  MOST_BYTES,
  partKeys,
  partsIn,
} from "../../../../src/domain/entry-parts.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { CairnError, hasCode } from "../../../client/src/error.ts";
import { newId } from "../../../client/src/new-id.ts";
import type { CallOptions } from "../../../client/src/options.ts";
import type { BatchOperation } from "../../../client/src/shapes.ts";
import { slices } from "../calls/slices.ts";

/** An entry to write; its value has up to 64 MiB of JSON. */
export type LargeEntry = {
  key: string;
  value: unknown;
  ttlMs?: number | undefined;
  refreshOnRead?: boolean | undefined;
  ifVersion?: string | null | undefined;
};

/** The content of an entry: the value, or the names of the parts that hold it. */
type Head = { value?: unknown; version: string };
type SetOperation = Extract<BatchOperation, { op: "set" }>;
/** A value to write: its parts in key order, then its entry. */
type SplitValue = { parts: { key: string; value: string }[]; value: unknown };

/** The most bytes of JSON in an entry (src/domain/limits.ts). */
export const ENTRY_BYTES = 1024 * 1024;
/** Larger JSON is split where many entries are read at once: a hundred in one call (16 MiB). */
const INLINE_BYTES = 64 * 1024;
/** Bytes of JSON in a part. */
const PART_BYTES = 1_000_000;
/** Bytes of one batch: a body holds 16 MiB. */
const BATCH_BYTES = 15 * 1024 * 1024;
const OPERATIONS_PER_BATCH = 1000;
/** Entries per read: 16 MiB hold so many of `INLINE_BYTES`. */
const ENTRIES_PER_READ = 200;
const PARTS_PER_READ = 15;
/** Tries of one write. */
export const WRITES = 5;
/** Reads of a value that is replaced between its entry and its parts. */
const READS = 20;
/** The lifetime of a part in milliseconds, until an entry names it and sets its expiry. */
export const UNNAMED_MS = 60 * 60 * 1000;

/**
 * JSON values of up to 64 MiB in entries of 1 MiB. A larger value is split into parts, written before or together with
 * the entry that names them. A reader always finds the whole value. The server deletes parts with their entry, in one
 * transaction; parts without an entry expire. An entry whose parts were deleted reads as missing.
 */
export class LargeEntries {
  readonly #memory: Pick<Cairn, "kv">;
  readonly #user: string;
  readonly #inline: number;
  readonly #call: CallOptions;

  constructor(
    memory: Pick<Cairn, "kv">,
    user: string,
    { inline = INLINE_BYTES, call = {} }: { inline?: number; call?: CallOptions } = {},
  ) {
    this.#memory = memory;
    this.#user = user;
    this.#inline = inline;
    this.#call = call;
  }

  /**
   * Writes all in one step if one batch can hold them. Else the last entry goes last, together with `also` and as many
   * entries before it as fit.
   */
  async write(entries: readonly LargeEntry[], also: readonly BatchOperation[] = []): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#tryWrite(entries, also);
      } catch (error) {
        // Its parts were deleted with what was under the key before.
        if (attempt === WRITES || !hasCode(error, "parts_missing")) throw error;
      }
  }

  async #tryWrite(entries: readonly LargeEntry[], also: readonly BatchOperation[]): Promise<void> {
    const parts: SetOperation[] = [];
    const partsOf = new Map<BatchOperation, SetOperation[]>();
    const heads = entries.map(({ value, ...entry }): SetOperation => {
      const held = splitValue(entry.key, value, this.#inline);
      const own = held.parts.map((part): SetOperation => ({ op: "set", ...part, ttlMs: UNNAMED_MS }));
      parts.push(...own);
      const head: SetOperation = { op: "set", ...entry, value: held.value };
      partsOf.set(head, own);
      return head;
    });
    const batches = filledFromTheEnd([...parts, ...heads, ...also]);
    for (const [i, operations] of batches.entries())
      try {
        await this.#memory.kv.batch(this.#user, operations, this.#call);
      } catch (error) {
        // A failed step wrote nothing, but a step without an answer may have succeeded.
        const isRefused = hasCode(error, "precondition_failed") || hasCode(error, "parts_missing");
        if (i > 0 && isRefused)
          await this.#drop(
            batches
              .slice(i)
              .flat()
              .flatMap((one) => partsOf.get(one) ?? []),
          );
        throw error;
      }
  }

  /** Deletes parts that no entry names. */
  async #drop(parts: readonly { key: string }[]): Promise<void> {
    const deletes = parts.map(({ key }) => ({ op: "delete" as const, key }));
    try {
      for (const some of slices(deletes, OPERATIONS_PER_BATCH))
        await this.#memory.kv.batch(this.#user, some, this.#call);
    } catch {
      // The parts expire anyway.
    }
  }

  /** The values of these keys, null where there is none. */
  async read<T extends object>(keys: readonly string[]): Promise<(T | null)[]> {
    const heads = await this.heads(keys);
    return Promise.all(heads.map((head, i) => this.whole<T>(keys[i] ?? "", head?.value)));
  }

  /** The entries' contents and versions, for `whole` and `ifVersion`. */
  heads(keys: readonly string[]): Promise<(Head | null)[]> {
    return this.#get(keys, ENTRIES_PER_READ);
  }

  /** The whole value of this entry; null if it was deleted meanwhile, or its parts were. */
  async whole<T>(key: string, entry: unknown): Promise<T | null> {
    return readWhole<T>(key, entry, {
      head: (of) => this.#memory.kv.get(this.#user, of, this.#call),
      parts: async (keys) => (await this.#get(keys, PARTS_PER_READ)).map((part) => part?.value),
    });
  }

  async #get(keys: readonly string[], atOnce: number): Promise<(Head | null)[]> {
    const heads: (Head | null)[] = [];
    // In sequence: responses have 16 MiB each.
    for (const some of slices(keys, atOnce)) {
      const operations = some.map((key) => ({ op: "get" as const, key }));
      const { results } = await this.#memory.kv.batch(this.#user, operations, this.#call);
      heads.push(...results.map(({ value, version }) => (version === undefined ? null : { value, version })));
    }
    return heads;
  }
}

/** Reads a split value: the entry of a key, and parts; undefined where deleted. */
type Source = {
  head: (key: string) => Promise<unknown>;
  parts: (keys: string[]) => Promise<unknown[]>;
};

/** The whole value of this entry; null if it was deleted meanwhile, or its parts were. */
export async function readWhole<T>(key: string, entry: unknown, { head, parts }: Source): Promise<T | null> {
  let there: unknown = entry ?? null;
  for (let read = 0; read < READS; read++) {
    const named = partsIn(there);
    // The caller declares the stored type.
    if (named === null) return there as T | null;
    const texts = await parts(partKeys(key, named));
    if (texts.every((text) => typeof text === "string")) return JSON.parse(texts.join("")) as T;
    // The entry was replaced or deleted meanwhile, or its parts are deleted.
    there = await head(key);
    if (partsIn(there)?.cairnParts === named.cairnParts) return null;
  }
  throw new Error(`The entry ${key} changes faster than it can be read.`);
}

/** Splits a value if its JSON exceeds `inline` bytes, or looks like an entry that names parts. */
export function splitValue(key: string, value: unknown, inline: number = ENTRY_BYTES): SplitValue {
  const json = JSON.stringify(value) as string | undefined;
  // The server rejects a value that is not JSON.
  if (json === undefined) return { parts: [], value };
  const looksInParts = json.length < HEAD_BYTES && partsIn(JSON.parse(json)) !== null;
  if (!looksInParts && isWithin(json, inline)) return { parts: [], value };
  if (!isWithin(json, MOST_BYTES)) throw tooLarge();
  const texts = splitText(json);
  const named: InParts = { cairnParts: newId(), count: texts.length };
  const parts = partKeys(key, named).map((partKey, i) => ({ key: partKey, value: texts[i] ?? "" }));
  return { parts, value: named };
}

function tooLarge(): CairnError {
  const message = "is larger than 64 MiB of JSON";
  const failure = { message: `not sent: the value ${message}`, details: [{ path: "value", message }] };
  return new CairnError({ code: "value_too_large", ...failure }, { status: 413 });
}

/** Batches in order, filled from the end, so that the last one holds the most. */
function filledFromTheEnd(operations: readonly BatchOperation[]): BatchOperation[][] {
  const batches: BatchOperation[][] = [];
  let batch: BatchOperation[] = [];
  let bytes = 0;
  for (const operation of operations.toReversed()) {
    const more = byteLength(JSON.stringify(operation)) + 1;
    if (batch.length === OPERATIONS_PER_BATCH || (batch.length > 0 && bytes + more > BATCH_BYTES)) {
      batches.push(batch.toReversed());
      batch = [];
      bytes = 0;
    }
    batch.push(operation);
    bytes += more;
  }
  if (batch.length > 0) batches.push(batch.toReversed());
  return batches.toReversed();
}

/** Splits a text into parts that fit into an entry as JSON. */
function splitText(text: string): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    let length = PART_BYTES;
    while (!isWithin(JSON.stringify(text.slice(from, from + length)), PART_BYTES))
      length = Math.ceil(length / 2);
    parts.push(text.slice(from, from + length));
    from += length;
  }
  return parts;
}

const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength;

/** A UTF-16 unit takes at most three bytes, so most texts need no encoding. */
const isWithin = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || (text.length <= bytes && byteLength(text) <= bytes);
