import type { ModelMessage } from "ai";
import { requireRecallingOptions } from "./require-options.ts";
import type { RecallingOptions } from "./options.ts";
import { recallHits, recalledBlock, withBlock } from "./recalled-block.ts";

type Step = { stepNumber: number; messages: ModelMessage[]; steps?: readonly unknown[] };

/**
 * A `prepareStep` that puts memories before the user's last message. It recalls once in a run, at the first step, and
 * shows the same block at later steps. Version 7 of the SDK carries the block on; for 5 and 6 it is added again. It
 * saves nothing.
 *
 * @example
 * await generateText({ model, prompt, tools, prepareStep: memoryStep({ memory, user: "alice" }) });
 */
export function memoryStep(options: RecallingOptions) {
  requireRecallingOptions("memoryStep", options);
  // The SDK gives each step of a run the same list of steps.
  const blocks = new WeakMap<object, string>();
  return async function prepareMemory({
    stepNumber,
    messages,
    steps = [],
  }: Step): Promise<{ messages: ModelMessage[] } | undefined> {
    if (stepNumber !== 0) {
      const block = blocks.get(steps);
      return block === undefined || holds(messages, block)
        ? undefined
        : { messages: withBlock(messages, block) };
    }
    const block = recalledBlock(options, await recallHits(options, messages), messages);
    if (block === undefined) return undefined;
    blocks.set(steps, block);
    return { messages: withBlock(messages, block) };
  };
}

const holds = (messages: readonly ModelMessage[], block: string): boolean =>
  messages.some(
    ({ content }) =>
      Array.isArray(content) && content.some((part) => part.type === "text" && part.text === block),
  );
