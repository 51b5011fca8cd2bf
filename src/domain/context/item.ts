import { day } from "../conversation/stored-text.ts";
import type { UserHash } from "../ids.ts";

/** One item of a block: a line, or with a subject what a line says of it. */
export type Shown = { text: string; subject?: string | undefined };

/**
 * The place of something that a block shows. What is there stays as it is until it is deleted: `n` is a version of a memory or
 * the position of a message, in the object of `owner` if it is not this one. `was`: the version that it changed; `until`: the
 * end of its validity or the time of what replaces it, as known then; `replaces`: a fact took the place of an earlier one;
 * `standing`: a passage that is an instruction of the user's, and all of its message or a part.
 */
export type Place =
  | {
      n: number;
      owner?: UserHash;
      passage?: readonly [start: number, end: number];
      was?: number;
      until?: number;
      replaces?: true;
      standing?: "whole" | "part";
      hash?: number;
    }
  | { key: string; version: string }
  | { compaction: string; thread: number };
/** A place of a memory or a message. */
export type NumberedPlace = Extract<Place, { n: number }>;

/** An instruction or a preference, and its time; `isRepeated`: it held before in the same words. */
export type Instruction = { text: string; at: number; isRepeated?: true };
/** `id`: of the memory, the entry's key, `<thread>:<seq>` of a message; equal for all versions. `message`: the source of the memory. */
export type ContextItem = {
  id: string;
  place: Place;
  shown: Shown;
  score?: number;
  message?: string;
  instruction?: Instruction;
};

/** The end of what a line says, if a later statement replaces it or its validity ends. */
export const untilOf = ({ until }: NumberedPlace): string =>
  until === undefined ? "" : ` | until ${day(until)}`;
