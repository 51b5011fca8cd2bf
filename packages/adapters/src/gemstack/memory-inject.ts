import type { AiMessage } from "../../../../src/domain/conversation/message.ts";
import { startOfTag } from "../../../../src/domain/conversation/stored-text.ts";
import { memoryOf } from "../context/memory-of.ts";
import type { MemoryOptions } from "../context/memory-options.ts";
import { requireMemoryOptions } from "../context/memory-options.ts";
import { NamedThread } from "../context/named-thread.ts";
import { type PromptMemory, withBlocks } from "../context/prompt-memory.ts";

export type CairnMemoryInjectOptions = MemoryOptions;

/** The context of a run, as the SDK gives it to middleware. */
type RunContext = { messages: AiMessage[] };
type Config = { messages?: AiMessage[] };

/** A middleware of the SDK (`AiMiddleware`). */
export type CairnMemoryInject = {
  name: string;
  onStart(ctx: RunContext): Promise<void>;
  onConfig<C extends Config>(ctx: RunContext, config: C, phase: string): C | undefined;
  onFinish(ctx: RunContext): void;
};

/**
 * The memory of a run: its stable block, and the messages with a block as JSON, each with the message that it stands for. Another
 * middleware may copy the messages.
 */
type Given = { stable: string; originals: ReadonlyMap<string, AiMessage> };

/**
 * A middleware that gives a model a user's memory, in place of the SDK's `withMemoryInject`. The stable block follows the
 * instructions. Each message of the user has the block that it was sent with. Failures go to `onError` and break no run, unless
 * `strict`. Throws a `TypeError` for an invalid option.
 *
 * @example
 * const middleware = () => [cairnMemoryInject({ memory, user: "alice", thread: { agent: "SupportAgent" } })];
 */
export function cairnMemoryInject(options: CairnMemoryInjectOptions): CairnMemoryInject {
  requireMemoryOptions("cairnMemoryInject", options);
  const thread = options.thread === undefined ? undefined : new NamedThread(options, options.thread);
  const runs = new WeakMap<RunContext, Given>();
  const format = options.context === false ? undefined : options.context?.format;
  return {
    name: "cairn-memory-inject",
    async onStart(ctx) {
      const before = [...ctx.messages];
      const { stable, blocks } = tagged(await memoryOf(options, thread, before), format === "json");
      const told = withBlocks(before, { stable, blocks });
      const originals = new Map(
        before.flatMap((message, i) => (blocks.has(i) ? [[JSON.stringify(told[i]), message]] : [])),
      );
      runs.set(ctx, { stable, originals });
      replace(ctx.messages, withStable(told, stable));
    },
    // A `prepareStep` may have set other instructions.
    onConfig(ctx, config, phase) {
      const stable = runs.get(ctx)?.stable ?? "";
      if (phase !== "beforeModel" || config.messages === undefined || stable === "") return undefined;
      return { ...config, messages: withStable(config.messages, stable) };
    },
    // Later readers of the conversation must not take stored memory for the user's words.
    onFinish(ctx) {
      const originals = runs.get(ctx)?.originals;
      if (originals !== undefined)
        replace(
          ctx.messages,
          ctx.messages.map((message) => originals.get(JSON.stringify(message)) ?? message),
        );
    },
  };
}

const TAG = startOfTag("user-memory");

/** The blocks between the SDK's own tags, by which its tools find them. */
function tagged({ stable, blocks }: PromptMemory, isJson: boolean): PromptMemory {
  // Blocks of the other formats have no such tag. In JSON this is the same value.
  const inert = (block: string) => (isJson ? block.replaceAll(TAG, "\\u003c") : block);
  const within = (block: string) => (block === "" ? "" : `<user-memory>\n${inert(block)}\n</user-memory>`);
  return { stable: within(stable), blocks: new Map([...blocks].map(([at, block]) => [at, within(block)])) };
}

/** The messages with the stable block at the end of the instructions, once. */
function withStable(messages: readonly AiMessage[], stable: string): AiMessage[] {
  const [first, ...others] = messages;
  if (stable === "") return [...messages];
  if (first?.role !== "system") return [{ role: "system", content: stable }, ...messages];
  const { content } = first;
  if (typeof content !== "string")
    return content.some((part) => part.type === "text" && part.text === stable)
      ? [...messages]
      : [{ ...first, content: [...content, { type: "text", text: stable }] }, ...others];
  return content.includes(stable)
    ? [...messages]
    : [{ ...first, content: [content, stable].filter((text) => text !== "").join("\n\n") }, ...others];
}

/** The SDK's loop holds this list. */
const replace = (messages: AiMessage[], others: readonly AiMessage[]): void =>
  void messages.splice(0, messages.length, ...others);
