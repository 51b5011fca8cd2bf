import {
  HEAD_BYTES,
  type InParts,
  MOST_BYTES,
  partKeys,
  partsIn,
} from "../../../../src/domain/entry-parts.ts";
import type { Cairn } from "../../cairn.ts";
import { CairnError, hasCode } from "../../error.ts";
import { newId } from "../../new-id.ts";
import type { CallOptions } from "../../options.ts";
import type { BatchOperation } from "../../shapes.ts";
import { slices } from "../calls/slices.ts";

/** An entry to be written; its value may be of up to 64 MiB of JSON. */
export type LargeEntry = {
  key: string;
  value: unknown;
  ttlMs?: number | undefined;
  refreshOnRead?: boolean | undefined;
  ifVersion?: string | null | undefined;
};

/** The content of an entry: the value, or the names of the parts that hold it. */
export type Head = { value?: unknown; version: string };
type SetOperation = Extract<BatchOperation, { op: "set" }>;
/** A value as it is written: its parts, in the order of their keys, and then its entry. */
export type Cut = { parts: { key: string; value: string }[]; value: unknown };

/** The bytes of JSON that an entry holds (src/domain/limits.ts). */
export const ENTRY_BYTES = 1024 * 1024;
/** JSON of more bytes is cut up where entries are read many at a time: a hundred of them are asked for at once (16 MiB). */
const INLINE_BYTES = 64 * 1024;
/** Bytes of JSON of a part. */
const PART_BYTES = 1_000_000;
/** Bytes of one batch: a body holds 16 MiB. */
const BATCH_BYTES = 15 * 1024 * 1024;
const OPERATIONS_PER_BATCH = 1000;
/** Entries asked for at once: as many of `INLINE_BYTES` as 16 MiB hold, and of `PART_BYTES`. */
const ENTRIES_PER_READ = 200;
const PARTS_PER_READ = 15;
/** Tries of one write. */
export const WRITES = 5;
/** Reads of a value that is replaced between its entry and its parts. */
const READS = 20;
/** Lifetime of a part before an entry names it and gives it its own expiry, in milliseconds. */
export const UNNAMED_MS = 60 * 60 * 1000;

/**
 * JSON values of up to 64 MiB in entries that hold 1 MiB: a larger one is in parts, which are written before, or in one step
 * with, the entry that names them. A reader of an entry finds all of its value. The server deletes the parts with their
 * entry, in its transaction; parts that a crash left unnamed expire. An entry whose parts are gone, since somebody deleted
 * them, reads as none.
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
   * Writes all in one step if they fit into one batch; else the last one is written last, and in one step with as many
   * before it as fit. `also` goes with that step.
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
      const held = cutUp(entry.key, value, this.#inline);
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
        // What fits into one step is undone by the failure; and a step whose answer was lost may have been done.
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
      // They expire.
    }
  }

  /** The values under these keys, null where there is none. */
  async read<T extends object>(keys: readonly string[]): Promise<(T | null)[]> {
    const heads = await this.heads(keys);
    return Promise.all(heads.map((head, i) => this.whole<T>(keys[i] ?? "", head?.value)));
  }

  /** The same, as the entries hold them, with their versions: for `whole` and `ifVersion`. */
  heads(keys: readonly string[]): Promise<(Head | null)[]> {
    return this.#get(keys, ENTRIES_PER_READ);
  }

  /** The value whose entry holds this; null if it was deleted meanwhile, or if its parts are gone. */
  async whole<T>(key: string, entry: unknown): Promise<T | null> {
    return wholeOf<T>(key, entry, {
      head: (of) => this.#memory.kv.get(this.#user, of, this.#call),
      parts: async (keys) => (await this.#get(keys, PARTS_PER_READ)).map((part) => part?.value),
    });
  }

  async #get(keys: readonly string[], atOnce: number): Promise<(Head | null)[]> {
    const heads: (Head | null)[] = [];
    // One after another: answers of 16 MiB each.
    for (const some of slices(keys, atOnce)) {
      const operations = some.map((key) => ({ op: "get" as const, key }));
      const { results } = await this.#memory.kv.batch(this.#user, operations, this.#call);
      heads.push(...results.map(({ value, version }) => (version === undefined ? null : { value, version })));
    }
    return heads;
  }
}

/** Where a value in parts is read: the entry under its key, and its parts, each undefined if it is gone. */
type Source = {
  head: (key: string) => Promise<unknown>;
  parts: (keys: string[]) => Promise<unknown[]>;
};

/** The value whose entry holds this; null if it was deleted meanwhile, or if its parts are gone. */
export async function wholeOf<T>(key: string, entry: unknown, { head, parts }: Source): Promise<T | null> {
  let there: unknown = entry ?? null;
  for (let read = 0; read < READS; read++) {
    const named = partsIn(there);
    // Whoever asks says what was stored.
    if (named === null) return there as T | null;
    const texts = await parts(partKeys(key, named));
    if (texts.every((text) => typeof text === "string")) return JSON.parse(texts.join("")) as T;
    // It was replaced or deleted since the entry was read; or its parts are gone for good.
    there = await head(key);
    if (partsIn(there)?.cairnParts === named.cairnParts) return null;
  }
  throw new Error(`The entry ${key} changes faster than it can be read.`);
}

/** A value as entries hold it: in parts, if its JSON has more bytes than this, or looks like an entry that names parts. */
export function cutUp(key: string, value: unknown, inline: number = ENTRY_BYTES): Cut {
  const json = JSON.stringify(value) as string | undefined;
  // The server says what is wrong with a value that is no JSON.
  if (json === undefined) return { parts: [], value };
  const looksInParts = json.length < HEAD_BYTES && partsIn(JSON.parse(json)) !== null;
  if (!looksInParts && isWithin(json, inline)) return { parts: [], value };
  if (!isWithin(json, MOST_BYTES)) throw tooLarge();
  const texts = cut(json);
  const named: InParts = { cairnParts: newId(), count: texts.length };
  const parts = partKeys(key, named).map((partKey, i) => ({ key: partKey, value: texts[i] ?? "" }));
  return { parts, value: named };
}

function tooLarge(): CairnError {
  const message = "is larger than 64 MiB of JSON";
  const failure = { message: `not sent: the value ${message}`, details: [{ path: "value", message }] };
  return new CairnError({ code: "value_too_large", ...failure }, { status: 413 });
}

/** Batches that the server takes, in order: filled from the end, so that the last one holds as much as it can. */
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

/** A text in parts that fit into an entry as JSON. */
function cut(text: string): string[] {
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

/** No character takes more than three bytes: most texts need no encoding. */
const isWithin = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || (text.length <= bytes && byteLength(text) <= bytes);
