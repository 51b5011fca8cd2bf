import { withDeadline } from "../deadline.ts";
import type { DeploymentMark } from "./deployment-mark.ts";

/** How long a request waits for D1 to say, and for how long after it did not no other one asks. In milliseconds. */
const ASK_WITHIN_MS = 1_000;
const ASK_AGAIN_MS = 5_000;
/** How long /health goes by what it found. */
const RECENT_MS = 5_000;

/** Whether the bindings are those that the tenant's data were stored with. */
export class Deployment {
  readonly #main: DeploymentMark | undefined;
  readonly #marks: readonly DeploymentMark[];
  #askAgainAt = 0;
  #recent: { problem: string | null; at: number } | null = null;

  /** The first mark is that of the main database, which answers for the tenant. */
  constructor(marks: readonly DeploymentMark[]) {
    [this.#main] = marks;
    this.#marks = marks;
  }

  /** What is wrong, over all databases; null if nothing is. Marks none. Rejects when one of them does not answer. */
  async problem(): Promise<string | null> {
    const problems = await Promise.all(this.#marks.map((mark) => mark.problem()));
    return problems.find((problem) => problem !== null) ?? null;
  }

  /** The same, as it was some seconds ago at most: anybody may ask for it, and each asking reads every database. */
  async recentProblem(now: number): Promise<string | null> {
    const known = this.#recent;
    if (known !== null && now >= known.at && now - known.at < RECENT_MS) return known.problem;
    const problem = await this.problem();
    this.#recent = { problem, at: now };
    return problem;
  }

  /**
   * Why requests are refused. Null if they are not, and where D1 does not say: what is in objects is to be had without
   * D1, and each database is asked once more before it is used. Without a promise once all is known to be well.
   */
  refusal(now: number): Promise<string | null> | null {
    const main = this.#main;
    return main === undefined || main.proven || now < this.#askAgainAt ? null : this.#ask(main, now);
  }

  async #ask(main: DeploymentMark, now: number): Promise<string | null> {
    try {
      return await withDeadline(main.settle(), ASK_WITHIN_MS);
    } catch (error) {
      this.#askAgainAt = now + ASK_AGAIN_MS;
      console.error({ message: "D1 does not say what it was first used as", error: String(error) });
      return null;
    }
  }
}
