import type { DexBlock, DexMessage } from "./types.ts";

/** How many blocks are known again where a host gives them back as other objects. */
const KNOWN = 100;

/** The messages that this extension has put in: they are to be sent, and neither summarised nor sent twice. */
export class Injected {
  readonly #texts = new Set<string>();
  /** By the message that each stands before: while a turn goes on, it stays the same, so that the prompt can be cached. */
  readonly #before = new WeakMap<DexMessage, DexBlock>();

  /** A block that was made; `latest`: the message that it is to stay before. */
  made(block: DexBlock, latest: DexMessage | null): DexBlock {
    this.#texts.add(block.content);
    const [oldest] = this.#texts;
    if (this.#texts.size > KNOWN && oldest !== undefined) this.#texts.delete(oldest);
    if (latest !== null) this.#before.set(latest, block);
    return block;
  }

  before(latest: DexMessage): DexBlock | undefined {
    return this.#before.get(latest);
  }

  /** The messages without those that were put in: a host may have kept them. */
  without<M extends DexMessage>(messages: readonly M[]): M[] {
    return messages.filter(({ content }) => typeof content !== "string" || !this.#texts.has(content));
  }
}
