import { env } from "cloudflare:workers";
import fc from "fast-check";
import { control, restore } from "../doubles/control.ts";
import { bindVectorize } from "../doubles/ports.ts";
import { VectorizeDouble } from "../doubles/vectorize.ts";
import { History } from "./history.ts";
import { heal } from "./inject.ts";
import { type Step, steps } from "./steps.ts";

const DIMENSIONS = 256;
/** Far from today, so that no alarm rings but when a history rings it. */
const BEGIN = Date.UTC(2100, 0, 1);

/** The seeds of the histories that one of `of` test files is to run. */
export function seedsOf(part: number, of: number): number[] {
  if (env.CAIRN_SEED !== "") return part === 0 ? [Number(env.CAIRN_SEED)] : [];
  const [first, count] = [Number(env.CAIRN_FIRST_SEED), Number(env.CAIRN_HISTORIES)];
  return Array.from({ length: count }, (_, i) => first + i).filter((seed) => seed % of === part);
}

/** Runs the history of a seed. One that fails is made as short as it goes, and told with its seed. */
export async function runHistory(seed: number): Promise<void> {
  const property = fc.asyncProperty(steps, fc.boolean(), (history, landLate) => run(seed, history, landLate));
  const details = await fc.check(property, { seed, numRuns: 1, interruptAfterTimeLimit: 20_000 });
  if (!details.failed) return;
  const [history] = details.counterexample ?? [];
  const failure = details.errorInstance instanceof Error ? details.errorInstance.message : "no reason";
  throw new Error(
    `CAIRN_SEED=${seed} npm run faults\n${failure}\n${(history ?? []).map((step) => JSON.stringify(step)).join("\n")}`,
  );
}

let runs = 0;

async function run(seed: number, history: readonly Step[], landLate: boolean): Promise<void> {
  restore();
  control.clockAt = BEGIN;
  // Of every second history, memory holds two vectors: Vectorize is asked for the others.
  control.embedsNow = seed % 3 === 0;
  control.vectorBytes = seed % 4 < 2 ? 2 * DIMENSIONS : null;
  const vectorize = new VectorizeDouble(DIMENSIONS, ["user", "kind", "scope", "model"]);
  bindVectorize(vectorize);
  runs++;
  const both = new History(["alice", "bob"].map((name) => `${name}-${seed}-${runs}`));
  try {
    for (const step of history) await both.perform(step);
    heal();
    await both.comeToRest(vectorize, landLate);
  } finally {
    restore();
    for (const user of both.users) await user.evict();
  }
}
