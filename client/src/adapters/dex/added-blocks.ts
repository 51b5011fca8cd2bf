import type { DexBlock, DexMessage } from "./types.ts";

/** Blocks kept to recognise them if a host copies the objects. */
const KNOWN = 100;

/** Tracks the messages that this extension adds, so that none is summarised or sent twice. */
export class AddedBlocks {
  readonly #texts = new Set<string>();
  /** Blocks by the message after them. A block stays the same during a turn, for the prompt cache. */
  readonly #before = new WeakMap<DexMessage, DexBlock>();

  /** Records a block; `latest` is the message after it. */
  add(block: DexBlock, latest: DexMessage | null): DexBlock {
    this.#texts.add(block.content);
    const [oldest] = this.#texts;
    if (this.#texts.size > KNOWN && oldest !== undefined) this.#texts.delete(oldest);
    if (latest !== null) this.#before.set(latest, block);
    return block;
  }

  before(latest: DexMessage): DexBlock | undefined {
    return this.#before.get(latest);
  }

  /** The messages without the added ones, which a host may have kept. */
  without<M extends DexMessage>(messages: readonly M[]): M[] {
    return messages.filter(({ content }) => typeof content !== "string" || !this.#texts.has(content));
  }
}
