// A property draws the same examples in each run: a test is red by its change and not by its seed. Another `CAIRN_FIRST_SEED`
// draws others.
import fc from "fast-check";
import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext extends Provided {}
}
export type Provided = { seed: number };

fc.configureGlobal({ seed: inject("seed") });
