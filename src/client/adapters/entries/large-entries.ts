import type { Cairn } from "../../cairn.ts";
import { hasCode } from "../../error.ts";
import type { BatchOperation } from "../../shapes.ts";
import { newId } from "../../new-id.ts";
import { slices } from "../calls/slices.ts";

/** An entry to be written; its value may be of any size. */
export type LargeEntry = {
  key: string;
  value: object;
  ttlMs?: number | undefined;
  refreshOnRead?: boolean | undefined;
  ifVersion?: string | null | undefined;
};

/** What an entry holds: the value, or where its pieces are. */
export type Head = { value?: unknown; version: string };
/** What the entry of a large value holds: where the pieces of its JSON are, each a text. */
type InPieces = { pieces: string; count: number };
type DeleteOperation = Extract<BatchOperation, { op: "delete" }>;
type SetOperation = Extract<BatchOperation, { op: "set" }>;

/** JSON of more bytes is cut up. Small, so that a hundred entries can be asked for at once (16 MiB). */
const INLINE_BYTES = 64 * 1024;
/** Bytes of JSON of a piece: an entry holds 1 MiB. */
const PIECE_BYTES = 1_000_000;
/** Bytes of one batch: a body holds 16 MiB. */
const BATCH_BYTES = 15 * 1024 * 1024;
const OPERATIONS_PER_BATCH = 1000;
/** Entries asked for at once: as many of `INLINE_BYTES` as 16 MiB hold, and of `PIECE_BYTES`. */
const ENTRIES_PER_READ = 200;
const PIECES_PER_READ = 15;
/** How often a value is read anew that was replaced between its entry and its pieces. */
const READS = 5;
/** The longest that an entry lives (src/limits.ts): 10 years. */
const MOST_MS = 10 * 365 * 24 * 60 * 60 * 1000;

/**
 * JSON objects of any size in entries that hold 1 MiB: a larger one is in pieces, which are written before, or in one step
 * with, the entry that names them. So whoever reads an entry finds all of it, and a crash leaves pieces that nothing names.
 * An entry whose pieces are gone (somebody deleted them, or they were over before it) is as none: it can be written and
 * deleted. No object may have a field `pieces` of its own.
 */
export class LargeEntries {
  readonly #memory: Cairn;
  readonly #user: string;
  readonly #piecesUnder: string;

  constructor(memory: Cairn, user: string, piecesUnder: string) {
    this.#memory = memory;
    this.#user = user;
    this.#piecesUnder = piecesUnder;
  }

  /**
   * Writes all in one step if they fit into one batch; else the last one is written last, and in one step with as many
   * before it as fit. `also` goes with that step.
   */
  async write(entries: readonly LargeEntry[], also: readonly BatchOperation[] = []): Promise<void> {
    const pieces: SetOperation[] = [];
    const heads = entries.map((entry) => this.#headOf(entry, pieces));
    const batches = filledFromTheEnd([...pieces, ...heads, ...also]);
    for (const [i, operations] of batches.entries())
      try {
        await this.#memory.kv.batch(this.#user, operations);
      } catch (error) {
        // Another writer was first. What fits into one step is undone by that.
        if (i > 0 && hasCode(error, "precondition_failed")) await this.#takeBack(heads);
        throw error;
      }
  }

  /** The values under these keys, null where there is none. */
  async read<T extends object>(keys: readonly string[]): Promise<(T | null)[]> {
    const heads = await this.heads(keys);
    return Promise.all(heads.map((head, i) => this.whole<T>(keys[i] ?? "", head?.value)));
  }

  /** The same, as the entries hold them, with their versions: for `whole`, `withoutPieces` and `ifVersion`. */
  heads(keys: readonly string[]): Promise<(Head | null)[]> {
    return this.#get(keys, ENTRIES_PER_READ);
  }

  /** The value whose entry is this one; null if it was deleted meanwhile, or if its pieces are gone. */
  async whole<T extends object>(key: string, entry: unknown): Promise<T | null> {
    // Entries under keys of this adapter hold what it wrote.
    let head = (entry ?? null) as T | InPieces | null;
    for (let read = 0; read < READS; read++) {
      if (head === null || !("pieces" in head)) return head;
      const texts = await this.#get(pieceKeys(head), PIECES_PER_READ);
      if (texts.every((text) => text !== null))
        return JSON.parse(texts.map(({ value }) => value).join("")) as T;
      const missing = head.pieces;
      // It was replaced or deleted since the entry was read.
      head = await this.#memory.kv.get<T | InPieces>(this.#user, key);
      // Or its pieces are gone, for good: they were written before it, and nobody writes to the same place again.
      if (head !== null && "pieces" in head && head.pieces === missing) return null;
    }
    throw new Error(`The entry ${key} changes faster than it can be read.`);
  }

  /** Deletes the pieces that a write left which was not done as a whole, but for those of the entries that it wrote. */
  async #takeBack(heads: readonly SetOperation[]): Promise<void> {
    const there = await this.heads(heads.map(({ key }) => key));
    const kept = new Set(there.flatMap((head) => withoutPieces(head?.value)).map(({ key }) => key));
    const unnamed = heads.flatMap(({ value }) => withoutPieces(value)).filter(({ key }) => !kept.has(key));
    for (const some of slices(unnamed, OPERATIONS_PER_BATCH)) await this.#memory.kv.batch(this.#user, some);
  }

  async #get(keys: readonly string[], atOnce: number): Promise<(Head | null)[]> {
    const answers = await Promise.all(
      slices(keys, atOnce).map((some) =>
        this.#memory.kv.batch(
          this.#user,
          some.map((key) => ({ op: "get", key })),
        ),
      ),
    );
    return answers.flatMap(({ results }) =>
      results.map(({ value, version }) => (version === undefined ? null : { value, version })),
    );
  }

  #headOf({ value, ...entry }: LargeEntry, pieces: SetOperation[]): SetOperation {
    const json = JSON.stringify(value);
    if (isWithin(json, INLINE_BYTES)) return { op: "set", ...entry, value };
    const texts = cut(json);
    const head: InPieces = { pieces: `${this.#piecesUnder}${newId()}`, count: texts.length };
    const { refreshOnRead } = entry;
    // A reader that is cut off between an entry and its pieces has begun the time of the one anew, and not of the others.
    const ttlMs = entry.ttlMs === undefined ? undefined : Math.min(2 * entry.ttlMs, MOST_MS);
    pieceKeys(head).forEach((key, i) => {
      pieces.push({ op: "set", key, value: texts[i] ?? "", ttlMs, refreshOnRead });
    });
    return { op: "set", ...entry, value: head };
  }
}

/** Deletes the pieces of what an entry holds, if it is in pieces. */
export function withoutPieces(entry: unknown): DeleteOperation[] {
  if (typeof entry !== "object" || entry === null || !("pieces" in entry)) return [];
  // Only `LargeEntries` writes a field of that name.
  return pieceKeys(entry as InPieces).map((key) => ({ op: "delete", key }));
}

const pieceKeys = ({ pieces, count }: InPieces): string[] =>
  Array.from({ length: count }, (_, i) => `${pieces}/${i}`);

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

/** A text in pieces that fit into an entry as JSON. */
function cut(text: string): string[] {
  const pieces: string[] = [];
  for (let from = 0; from < text.length;) {
    let length = PIECE_BYTES;
    while (!isWithin(JSON.stringify(text.slice(from, from + length)), PIECE_BYTES))
      length = Math.ceil(length / 2);
    pieces.push(text.slice(from, from + length));
    from += length;
  }
  return pieces;
}

const byteLength = (text: string): number => new TextEncoder().encode(text).byteLength;

/** No character takes more than three bytes: most texts need no encoding. */
const isWithin = (text: string, bytes: number): boolean =>
  text.length * 3 <= bytes || (text.length <= bytes && byteLength(text) <= bytes);
