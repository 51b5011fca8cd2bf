/** An error that the person at the terminal can mend: shown without a stack. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  /** 2: the command was not understood or not allowed; 1: a step of it failed. */
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 2) {
    super(message);
    this.exitCode = exitCode;
  }
}
