import type { Embedder, Vector } from "./embedder.ts";

/** Stands where no embedder can be made of the bindings: it tells why, and fails whoever wants a vector. */
export class UnusableEmbedder implements Embedder {
  readonly model = "none";
  readonly dimensions = 0;
  readonly problem: string;

  constructor(problem: string) {
    this.problem = problem;
  }

  async embed(): Promise<Vector[]> {
    throw new Error(`nothing is embedded: ${this.problem}`);
  }
}
