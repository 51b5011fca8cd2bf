/** A reason that the person at the terminal can do something about: shown without a stack. */
export class CannotStart extends Error {
  override readonly name = "CannotStart";
}

/** An error in one line. */
export const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
