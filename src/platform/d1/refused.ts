import { isFull, reasons } from "../storage-failure.ts";

/** A write that D1 understood and refused: nothing of it happened, and trying it again changes nothing. */
export class RefusedWrite extends Error {
  override readonly name = "RefusedWrite";
}

/** A write that D1 has no room for: nothing of this try happened, and another one helps once something is deleted. */
export class FullDatabase extends Error {
  override readonly name = "FullDatabase";
}

/** Messages of D1 for a statement or a value that it will never take; all else may pass on another try. */
const REFUSALS = /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)|D1_TYPE_ERROR/;

/** Runs a write and tells a refusal, and a full database, from an outage. */
export async function refusable<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = reasons(error);
    if (REFUSALS.test(reason)) throw new RefusedWrite(reason, { cause: error });
    throw isFull(error) ? new FullDatabase(reason, { cause: error }) : error;
  }
}
