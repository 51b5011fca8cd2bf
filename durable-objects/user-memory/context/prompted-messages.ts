import { messageHash, turnNames, userText } from "../../../src/domain/context/message-hash.ts";
import type { ReadMessage } from "../../../src/domain/page-json.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { BlockNow, ContextItems } from "./context-items.ts";
import type { ContextStore, StoredTurn, TurnPlace } from "./context-store.ts";
import type { SharedItems, SharedOwners } from "./shared-owners.ts";
import { userMessages } from "./turn-names.ts";

type Dependencies = {
  store: ContextStore;
  stores: ThreadStores;
  items: ContextItems;
  shared: SharedOwners;
  now: () => number;
};

/** The turns of a prompt that have a block, by their names. */
export type Turns = ReadonlyMap<string, StoredTurn>;

/** Reads messages with the blocks that they were sent with, as far as what these show still exists. */
export class PromptedMessages {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** The blocks of turns, by their names. */
  blocks(turns: Turns, shared: SharedItems): Map<string, BlockNow> {
    const blocks = new Map(Array.from(turns, ([name, { block }]) => [name, block]));
    return this.#deps.items.blocks(blocks, this.#deps.now(), shared);
  }

  /** Stores what is left of each block, so that a loss is told once. True if something that a turn showed is gone. */
  reduce(turns: Turns, blocks: ReadonlyMap<string, BlockNow>): boolean {
    const reduced = [...turns].filter(([name]) => blocks.get(name)?.isReduced);
    for (const [name, { thread, block }] of reduced)
      this.#deps.store.reduceTurn(thread, name, { ...block, sections: blocks.get(name)?.left ?? [] });
    return reduced.length > 0;
  }

  /** The messages, each one of the user with its block. `reduces`: also stores what is left of the blocks. */
  async page(
    thread: StoredThread,
    items: readonly ReadMessage[],
    { reduces }: { reduces: boolean },
  ): Promise<{ items: ReadMessage[]; isReduced: boolean }> {
    const { store, stores, shared } = this.#deps;
    const names = await this.#turnNames(thread, items);
    const turns = store.turns(stores.lineage.segments(thread), [...names.values()]);
    const sections = [...turns.values()].flatMap(({ block }) => block.sections);
    const blocks = this.blocks(turns, await shared.items(sections));
    const prompted = items.map((item) => {
      const block = blocks.get(names.get(item) ?? "")?.text ?? "";
      return block === "" ? item : { ...item, block };
    });
    return { items: prompted, isReduced: reduces && this.reduce(turns, blocks) };
  }

  /** The name of the turn of each message of the user in a page, if that has a block. */
  async #turnNames(thread: StoredThread, items: readonly ReadMessage[]): Promise<Map<ReadMessage, string>> {
    const { store, stores } = this.#deps;
    const messages: { item: ReadMessage; place: TurnPlace }[] = [];
    let before: string | undefined;
    let previous: { seq: number } | undefined;
    for (const item of items) {
      const message = item.compaction === undefined ? parsed(item.body) : undefined;
      const text = message?.role === "user" ? userText(message) : "";
      // A summary stands for messages of which the last one of the user places the next turn.
      if (item.compaction !== undefined) previous = undefined;
      if (text === "") continue;
      if (previous === undefined) {
        const [last] = userMessages(stores, thread, item.seq).take(1);
        if (messages.length === 0 && last !== undefined) before = await messageHash(last.text);
        previous = last ?? { seq: 0 };
      }
      messages.push({ item, place: { hash: await messageHash(text), from: previous.seq, to: item.seq } });
      previous = item;
    }
    const hashes = messages.map(({ place }) => place.hash);
    const counted = await turnNames(hashes, before);
    const turns = messages.map(({ place }, i) => ({ place, counted: counted[i] ?? "" }));
    const names = store.turnNames(stores.lineage.segments(thread), turns);
    return new Map(
      messages.flatMap(({ item }, i): [ReadMessage, string][] => {
        const name = names[i] ?? null;
        return name === null ? [] : [[item, name]];
      }),
    );
  }
}
