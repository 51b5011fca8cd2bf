import type { ModelMessage } from "ai";
import { type Instructions, messagesOf, type SystemMessage } from "../ai-employee/instructions.ts";
import { NO_MEMORY, type PromptMemory, withBlocks } from "../context/prompt-memory.ts";
import { memoryOf } from "../context/memory-of.ts";
import { textField } from "../../../../src/domain/conversation/message.ts";
import { textOf } from "./message-text.ts";
import { NamedThread } from "../context/named-thread.ts";
import { type MemoryOptions, requireMemoryOptions } from "../context/memory-options.ts";

type Step = {
  stepNumber: number;
  messages?: readonly unknown[];
  steps?: readonly unknown[];
  instructions?: Instructions | undefined;
  model?: unknown;
};
/** Versions 5 and 6 of the SDK take the stable block among the messages, and version 5 no list as `system`. */
type Prepared<Given> = { messages: ModelMessage[] } & ("instructions" extends keyof Given
  ? { system?: SystemMessage[] }
  : unknown);

/**
 * A `prepareStep` that gives a model a context. It reads the context once in a run, at the first step, and shows the same at
 * later steps. Version 7 of the SDK carries it on; for 5 and 6 it is added again. It saves nothing.
 *
 * @example
 * await generateText({ model, prompt, tools, prepareStep: memoryStep({ memory, user: "alice" }) });
 */
export function memoryStep(options: MemoryOptions) {
  requireMemoryOptions("memoryStep", options);
  const thread = options.thread === undefined ? undefined : new NamedThread(options, options.thread);
  // The SDK gives each step of a run the same list of steps.
  const runs = new WeakMap<object, PromptMemory>();
  return async function prepareMemory<Given extends Step>(step: Given): Promise<Prepared<Given> | undefined> {
    const { stepNumber, steps = [] } = step;
    // They are the SDK's. Its type would keep the step from being composed with others.
    const messages = (step.messages ?? []) as ModelMessage[];
    const memory =
      stepNumber === 0
        ? await memoryOf(options, thread, messages, { model: providerOf(step.model) })
        : (runs.get(steps) ?? NO_MEMORY);
    runs.set(steps, memory);
    const blocks = new Map([...memory.blocks].filter(([at, block]) => !begins(messages[at], block)));
    const told = withBlocks(messages, { ...memory, blocks });
    const { stable } = memory;
    const own = messagesOf(step.instructions);
    const isTold = stable === "" || [...own, ...messages].some(({ content }) => content === stable);
    const block: SystemMessage = { role: "system", content: stable };
    // Version 7 has `instructions`, and takes no system messages among the others.
    const prepared = isTold
      ? { messages: told }
      : "instructions" in step
        ? { system: [...own, block], messages: told }
        : { messages: [block, ...told] };
    return isTold && blocks.size === 0 ? undefined : prepared;
  };
}

/** The provider of a model, which is an object or, of a gateway, a name as `openai/gpt-5`. */
const providerOf = (model: unknown): string =>
  typeof model === "string" ? model : (textField(model, "provider") ?? "");

const begins = (message: ModelMessage | undefined, block: string): boolean =>
  message !== undefined && textOf(message).startsWith(block);
