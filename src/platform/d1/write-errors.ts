import { isFull, reasons } from "../storage-failure.ts";

/** D1 refused the write: it did nothing, and a retry fails the same way. */
export class RefusedWrite extends Error {
  override readonly name = "RefusedWrite";
}

/** D1 has no room for the write: it did nothing, and a retry succeeds once rows are deleted. */
export class FullDatabase extends Error {
  override readonly name = "FullDatabase";
}

/** A write that came after a later one, and did nothing. `seq`: of the later write. */
export class OvertakenWrite extends Error {
  override readonly name = "OvertakenWrite";
  readonly seq: number;

  constructor(seq: number) {
    super(`a later write has the number ${seq}`);
    this.seq = seq;
  }
}

/** A write of erased versions, which did nothing. `upTo` and `epoch`: end of the last erasure. */
export class ErasedWrite extends Error {
  override readonly name = "ErasedWrite";
  readonly upTo: number;
  readonly epoch: number;

  constructor({ upTo, epoch }: { upTo: number; epoch: number }) {
    super(`versions up to ${upTo} are erased`);
    this.upTo = upTo;
    this.epoch = epoch;
  }
}

/** D1's messages for a statement or a value that it never takes. After any other error a retry may succeed. */
const REFUSALS = /SQLITE_(CONSTRAINT|TOOBIG|MISMATCH|RANGE)|D1_TYPE_ERROR/;

/** Runs a write. Throws `RefusedWrite` or `FullDatabase` in the place of D1's error for these. */
export async function withWriteErrors<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    const reason = reasons(error);
    if (REFUSALS.test(reason)) throw new RefusedWrite(reason, { cause: error });
    throw isFull(error) ? new FullDatabase(reason, { cause: error }) : error;
  }
}
