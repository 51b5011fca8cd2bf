import type { PositionRange } from "./position.ts";

/** The data whose erasure begins: all of the user's (`ranges`: of the documents), or that of a scope. */
export type ErasedData =
  | { what: "user"; ranges: readonly PositionRange[] }
  | { what: "scope"; scope: string };

/** A part that holds data which no step of an erasure empties: in memory, in waiting writes, on its way elsewhere, in rows of its own. */
export interface Erasable {
  erase(data: ErasedData): void;
}
