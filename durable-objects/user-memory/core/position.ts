import { part, type SqlPart } from "../../storage/sql.ts";

/**
 * A message's position is `thread number × 2^31 + seq`: one integer key, so that an append writes one row and
 * a thread is one range. Room for 4 million threads of 2 billion messages each within the 2^53 that JSON and
 * JavaScript count exactly.
 */
export const SLOTS = 2 ** 31;

/** The least position of any message; the numbers below are versions of memories. */
export const FIRST_POSITION = SLOTS;
export const isMessage = (n: number): boolean => n >= FIRST_POSITION;
/** The greatest seq that a message can have. */
export const LAST_SEQ = SLOTS - 1;

export const positionOf = (threadNumber: number, seq: number): number => threadNumber * SLOTS + seq;
export const seqOf = (position: number): number => position % SLOTS;
export const threadNumberOf = (position: number): number => Math.floor(position / SLOTS);

/** Both ends included. */
export type PositionRange = readonly [from: number, to: number];
export const MEMORIES: PositionRange = [0, FIRST_POSITION - 1];
export const MESSAGES: PositionRange = [FIRST_POSITION, Number.MAX_SAFE_INTEGER];

/** The rows of some documents, in a table whose rowid is the document's number. */
export const rowsIn = ([from, to]: PositionRange): SqlPart => part`rowid BETWEEN ${from} AND ${to}`;
export const rowsOf = (numbers: readonly number[]): SqlPart =>
  part`rowid IN (SELECT value FROM json_each(${JSON.stringify(numbers)}))`;

/** A stretch of a thread's messages that one thread owns: seqs from one to the other, both included. */
export type Segment = { n: number; from: number; to: number };
export const positionsOf = ({ n, from, to }: Segment): PositionRange => [
  positionOf(n, from),
  positionOf(n, to),
];
/** Seqs from one to the other, both included. */
export type SeqRange = readonly [from: number, to: number];
