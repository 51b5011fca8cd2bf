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
/** A history takes a second or two; on a very busy machine, a minute. */
const HANGS_AFTER_MS = 300_000;

/** The seeds of the histories that one of `of` test files is to run. */
export function seedsOf(part: number, of: number): number[] {
  if (env.CAIRN_SEED !== "") return part === 0 ? [Number(env.CAIRN_SEED)] : [];
  const [first, count] = [Number(env.CAIRN_FIRST_SEED), Number(env.CAIRN_HISTORIES)];
  return Array.from({ length: count }, (_, i) => first + i).filter((seed) => seed % of === part);
}

/** Runs the history of a seed. */
export const runHistory = (seed: number): Promise<void> =>
  runSeed(
    seed,
    fc.asyncProperty(steps, fc.boolean(), (history, landLate) => run(seed, history, landLate)),
  );

/**
 * Runs the one history that a property has for a seed. One that fails is shortened for 20 seconds, and reported with its seed. A first
 * run has no such limit: on a busy machine, a long history would fail by it.
 */
export async function runSeed<T extends [readonly unknown[], ...unknown[]]>(
  seed: number,
  property: fc.IAsyncPropertyWithHooks<T>,
): Promise<void> {
  const hang = AbortSignal.timeout(HANGS_AFTER_MS);
  const hangs = new Promise<never>((_, reject) => {
    hang.addEventListener("abort", () => reject(new Error(`${replay(seed)}\nit does not end`)));
  });
  const first = await Promise.race([fc.check(property, { seed, numRuns: 1, endOnFailure: true }), hangs]);
  if (!first.failed) return;
  const shorter = await fc.check(property, { seed, numRuns: 1, interruptAfterTimeLimit: 20_000 });
  // One that fails by chance may pass now.
  const { counterexample, errorInstance } = shorter.counterexample === null ? first : shorter;
  const failure = errorInstance instanceof Error ? errorInstance.message : "no reason";
  const history = (counterexample?.[0] ?? []).map((step) => JSON.stringify(step));
  throw new Error([replay(seed), failure, ...history].join("\n"));
}

const replay = (seed: number): string => `CAIRN_SEED=${seed} npm run faults`;

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
