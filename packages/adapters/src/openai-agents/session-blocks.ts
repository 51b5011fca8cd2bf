import type { AgentInputItem } from "@openai/agents-core";
import type { PromptMemory } from "../context/prompt-memory.ts";
import { isUserItem, itemWithBlock } from "./prompt.ts";

/** Blocks that are recognised when the SDK stores the items that it sent. */
const KNOWN = 64;

/**
 * The blocks that a session gave to prompts. The SDK stores new items as the model gets them, so the session takes the
 * blocks out again.
 */
export class SessionBlocks {
  readonly #known = new Set<string>();
  /** The SDK identifies items of the history by their object. */
  readonly #ofHistory = new WeakMap<AgentInputItem, string>();

  /** The model's input: the stable block behind instructions, the history, and the new items with their blocks. */
  combined(
    history: readonly AgentInputItem[],
    added: readonly AgentInputItem[],
    { stable, blocks }: PromptMemory,
  ): AgentInputItem[] {
    for (const [index, item] of history.entries()) {
      const block = blocks.get(index);
      if (block === undefined) this.#ofHistory.delete(item);
      else this.#ofHistory.set(item, block);
    }
    const told = added.map((item, index) => {
      const block = blocks.get(history.length + index);
      if (block !== undefined) this.#know(block);
      return itemWithBlock(item, block);
    });
    const items = [...history, ...told];
    if (stable === "") return items;
    this.#know(stable);
    const first = items.findIndex((item) => !leads(item));
    return items.toSpliced(first < 0 ? items.length : first, 0, { role: "system", content: stable });
  }

  /** An item of the history as the model gets it. */
  ofHistory(item: AgentInputItem): AgentInputItem {
    return itemWithBlock(item, this.#ofHistory.get(item));
  }

  /** Items as they were before `combined`. */
  without(items: readonly AgentInputItem[]): AgentInputItem[] {
    return items.filter((item) => !this.#isStable(item)).map((item) => this.#withoutBlock(item));
  }

  #isStable(item: AgentInputItem): boolean {
    return "role" in item && item.role === "system" && this.#known.has(item.content);
  }

  #withoutBlock(item: AgentInputItem): AgentInputItem {
    if (!isUserItem(item)) return item;
    const { content } = item;
    if (typeof content !== "string") {
      const [part, ...parts] = content;
      const isBlock = part?.type === "input_text" && this.#known.has(part.text);
      return isBlock ? { ...item, content: parts } : item;
    }
    const starts = Array.from(this.#known, (block) => `${block}\n\n`);
    const start = starts.find((text) => content.startsWith(text));
    return start === undefined ? item : { ...item, content: content.slice(start.length) };
  }

  #know(block: string): void {
    this.#known.delete(block);
    this.#known.add(block);
    const [oldest] = this.#known;
    if (this.#known.size > KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** Instructions, and a compaction, which the SDK expects first. */
const leads = (item: AgentInputItem): boolean =>
  item.type === "compaction" || ("role" in item && item.role === "system");
