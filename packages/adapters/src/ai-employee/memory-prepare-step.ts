import { type OptionNames, requireKnownOptions } from "../../../client/src/known-options.ts";
import { messagesOf, type StepStart, type SystemOf } from "./instructions.ts";
import { memoriesBlock, mostThatFit } from "./memories-block.ts";
import type { CairnMemoryStore, MemoryStore } from "./memory-store.ts";

export type MemoryPrepareStepConfig = {
  /** Shows the entries whose keys begin with this; `memory:` unless set. */
  prefix?: string;
  /** Shows the entries under these keys, in this order; replaces `prefix`. */
  memoryKeys?: readonly string[];
  /** The longest block, in tokens of four characters; 2,000 unless set. */
  maxTokenBudget?: number;
};

const OPTIONS: OptionNames<MemoryPrepareStepConfig> = {
  prefix: true,
  memoryKeys: true,
  maxTokenBudget: true,
};

export type MemoryPrepareStep = <Step extends StepStart>(
  step: Step,
) => Promise<{ system: SystemOf<Step> } | undefined>;

/** Reads in flight at once, for a store that reads one entry a call. */
const TOGETHER = 100;

/**
 * A `prepareStep` of the AI SDK that adds memories after the run's own instructions. Only step 0 reads memories, so a
 * run sees one state and the next run a new one. It keeps no state, so runs may share it. Rejects if the store does.
 *
 * @example
 * await generateText({ model, prompt, prepareStep: createMemoryPrepareStep(store) });
 */
export function createMemoryPrepareStep(
  store: MemoryStore | CairnMemoryStore,
  config: MemoryPrepareStepConfig = {},
): MemoryPrepareStep {
  requireKnownOptions("createMemoryPrepareStep", config, OPTIONS);
  const { prefix = "memory:", memoryKeys, maxTokenBudget = 2000 } = config;
  return async <Step extends StepStart>({ stepNumber, instructions }: Step) => {
    if (stepNumber !== 0) return undefined;
    const entries =
      "listWithValues" in store
        ? await readAtOnce(store, { prefix, memoryKeys, limit: mostThatFit(prefix, maxTokenBudget) })
        : readOneByOne(store, memoryKeys ?? (await store.list(prefix)));
    const block = await memoriesBlock(entries, maxTokenBudget);
    if (block === null) return undefined;
    // The AI SDK replaces the run's instructions by the result.
    const own = messagesOf(instructions);
    const system = own.length === 0 ? block : [...own, { role: "system" as const, content: block }];
    // A list only where the step has instructions.
    return { system: system as SystemOf<Step> };
  };
}

type Wanted = { prefix: string; memoryKeys: readonly string[] | undefined; limit: number };
type Entry = { key: string; value: unknown };

async function readAtOnce(
  store: CairnMemoryStore,
  { prefix, memoryKeys, limit }: Wanted,
): Promise<AsyncIterable<Entry> | Iterable<Entry>> {
  if (memoryKeys === undefined) return store.listWithValues(prefix, limit);
  const values = await store.getMany(memoryKeys);
  return memoryKeys.map((key) => ({ key, value: values.get(key) }));
}

async function* readOneByOne(store: MemoryStore, keys: readonly string[]): AsyncGenerator<Entry, void> {
  for (let from = 0; from < keys.length; from += TOGETHER) {
    const some = keys.slice(from, from + TOGETHER);
    const values = await Promise.all(some.map((key) => store.get(key)));
    yield* some.map((key, i) => ({ key, value: values[i] }));
  }
}
