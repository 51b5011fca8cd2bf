import { BoundedCache } from "../../../../src/domain/bounded-cache.ts";
import { sha256Hex } from "../../../../src/domain/hash.ts";
import { textOf } from "./messages.ts";
import type { DexBlock, DexMessage } from "./types.ts";

/** Blocks kept to recognise them if a host copies the objects, and turns kept for later steps. */
const KNOWN = 100;

/** Tracks the messages that this extension adds, so that none is summarised or sent twice. */
export class AddedBlocks {
  readonly #texts = new Set<string>();
  /** Blocks by their turns, null for none. They stay the same during a turn, for the prompt cache. */
  readonly #turns = new BoundedCache<DexBlock | null>(KNOWN);

  add(block: DexBlock): void {
    this.#texts.add(block.content);
    const [oldest] = this.#texts;
    if (this.#texts.size > KNOWN && oldest !== undefined) this.#texts.delete(oldest);
  }

  /** Keeps the block of a turn for its later steps. */
  keep(turn: string, block: DexBlock | null): void {
    this.#turns.set(turn, block);
  }

  /** The block of a turn that has begun; undefined if it is unknown. */
  of(turn: string): DexBlock | null | undefined {
    return this.#turns.get(turn);
  }

  /** The messages without the added ones, which a host may have kept. */
  without<M extends DexMessage>(messages: readonly M[]): M[] {
    return messages.filter((message) => !this.#texts.has(textOf(message)));
  }
}

/** Names a turn by the place and the text of its user's message: a host, and an SDK, may make its messages anew. */
export const turnAt = (place: number, latest: DexMessage): Promise<string> =>
  sha256Hex(`${place}\n${textOf(latest)}`);
