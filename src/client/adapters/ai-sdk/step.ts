import type { ModelMessage } from "ai";
import { demandRecalling } from "./demand-options.ts";
import type { RecallingOptions } from "./options.ts";
import { recalled, recalledBlock, withBlock } from "./recalled.ts";

/**
 * A `prepareStep` that puts what is remembered before what the user said last: once a run, at its first step, and fresh
 * for every run. The SDK carries it on to the later steps. It saves nothing.
 *
 * @example
 * await generateText({ model, prompt, tools, prepareStep: memoryStep({ memory, user: "alice" }) });
 */
export function memoryStep(options: RecallingOptions) {
  demandRecalling("memoryStep", options);
  return async function prepareMemory({
    stepNumber,
    messages,
  }: {
    stepNumber: number;
    messages: ModelMessage[];
  }): Promise<{ messages: ModelMessage[] } | undefined> {
    if (stepNumber !== 0) return undefined;
    const block = recalledBlock(options, await recalled(options, messages), messages);
    return block === undefined ? undefined : { messages: withBlock(messages, block) };
  };
}
