import { withDeadline } from "../deadline.ts";
import type { DeploymentMark } from "./deployment-mark.ts";

/** The time that a request waits for D1, and the pause after a failure. */
const ASK_WITHIN_MS = 1_000;
const ASK_AGAIN_MS = 5_000;

/** Checks that the bindings are those that the tenant's data were stored with. */
export class Deployment {
  readonly #main: DeploymentMark | undefined;
  readonly #marks: readonly DeploymentMark[];
  #askAgainAt = 0;

  /** The first mark is of the main database, which answers for the tenant. */
  constructor(marks: readonly DeploymentMark[]) {
    [this.#main] = marks;
    this.#marks = marks;
  }

  /** The first problem of any database, or null. Marks none. Rejects when one does not answer. */
  async problem(): Promise<string | null> {
    const problems = await Promise.all(this.#marks.map((mark) => mark.problem()));
    return problems.find((problem) => problem !== null) ?? null;
  }

  /**
   * Why requests are refused, or null. Also null when D1 does not answer: objects work without it, and each database is
   * checked again before its use. Returns no promise once the main database is verified.
   */
  refusal(now: number): Promise<string | null> | null {
    const main = this.#main;
    return main === undefined || main.isVerified || now < this.#askAgainAt ? null : this.#ask(main, now);
  }

  async #ask(main: DeploymentMark, now: number): Promise<string | null> {
    try {
      return await withDeadline(main.verifyOrMark(), ASK_WITHIN_MS);
    } catch (error) {
      this.#askAgainAt = now + ASK_AGAIN_MS;
      console.error({ message: "D1 does not say what it was first used as", error: String(error) });
      return null;
    }
  }
}
