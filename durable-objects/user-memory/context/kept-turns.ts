import { messageHash, turnName, turnNames, userText } from "../../../src/domain/context/message-hash.ts";
import { withBlock } from "../../../src/domain/context/prompted-message.ts";
import type { ReadMessage } from "../../../src/domain/page-json.ts";
import type { Message } from "../../../src/domain/schema/thread.ts";
import type { PlacedSection } from "../contract.ts";
import { parsed } from "../threads/message-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { ContextItems, ResolvedSection } from "./context-items.ts";
import { type ContextStore, keyOf, type KeptTurn } from "./context-store.ts";
import { LOOKED_AT } from "./prompted-turns.ts";
import { textOf } from "./fitted-sections.ts";
import { type SharedItems, sharedKey, type SharedOwners } from "./shared-owners.ts";

type Dependencies = {
  store: ContextStore;
  stores: ThreadStores;
  items: ContextItems;
  shared: SharedOwners;
  now: () => number;
};

/** The turns of a prompt that have a block, by their names. */
export type Turns = ReadonlyMap<string, KeptTurn>;

/** A kept block as it is now. `left`: its places without those where nothing is; `isLess`: there are such. */
export type Reread = { resolved: ResolvedSection[]; left: PlacedSection[]; isLess: boolean };

/** A message of the user, and the name of its turn. */
type Said = { item: ReadMessage; message: Message; turn: string };

/** Reads the blocks of turns again, as far as what they show still exists. */
export class KeptTurns {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** The blocks of these turns, of the thread itself and of those that it was forked from. */
  of(thread: StoredThread, names: readonly string[]): Turns {
    const { store, stores } = this.#deps;
    const line = Array.from(stores.lineage.segments(thread), ({ n }) => n);
    return store.turns(line, names);
  }

  /** Reads several blocks in one go. A shared owner that does not answer may be back later, so its places are left. */
  reread(blocks: readonly (readonly PlacedSection[])[], shared: SharedItems): Reread[] {
    const all = this.#deps.items.resolve(blocks.flat(), this.#deps.now(), shared);
    let at = 0;
    return blocks.map((sections) => {
      const resolved = all.slice(at, (at += sections.length));
      const left = sections.map(({ layer, places }, i) => {
        const found = new Set(resolved[i]?.items.map(({ place }) => keyOf(place)));
        return {
          layer,
          places: places.filter(
            (place) => found.has(keyOf(place)) || shared.get(sharedKey(layer, place)) === "away",
          ),
        };
      });
      return { resolved, left, isLess: resolved.some(({ lost }) => lost > 0) };
    });
  }

  /** The texts of turns by their names. Stores what is left of each block, so that a loss (`isLess`) is told once. */
  texts(turns: Turns, shared: SharedItems): Map<string, { text: string; isLess: boolean }> {
    return new Map(
      this.#read(turns, shared).map(([name, kept, { resolved, left, isLess }]) => {
        if (isLess) this.#deps.store.reduceTurn({ ...kept, block: { ...kept.block, sections: left } }, name);
        return [name, { text: textOf(resolved, kept.block), isLess }];
      }),
    );
  }

  /** Messages as their prompts had them: each message of the user with the block that it was sent with. */
  async prompted(
    thread: StoredThread,
    items: readonly ReadMessage[],
  ): Promise<{ items: ReadMessage[]; turns: Turns; shared: SharedItems }> {
    const said = await this.#saidIn(thread, items);
    const turns = this.of(
      thread,
      said.map(({ turn }) => turn),
    );
    const kept = [...turns.values()].flatMap(({ block }) => block.sections);
    const shared = await this.#deps.shared.items(kept);
    const texts = new Map(
      this.#read(turns, shared).map(([name, { block }, { resolved }]) => [name, textOf(resolved, block)]),
    );
    const bodies = new Map<ReadMessage, Uint8Array>();
    for (const { item, message, turn } of said) {
      const text = texts.get(turn) ?? "";
      if (text !== "") bodies.set(item, encoder.encode(JSON.stringify(withBlock(message, text))));
    }
    return { items: items.map((item) => ({ ...item, body: bodies.get(item) ?? item.body })), turns, shared };
  }

  #read(turns: Turns, shared: SharedItems): [name: string, kept: KeptTurn, again: Reread][] {
    const all = [...turns];
    const again = this.reread(
      all.map(([, { block }]) => block.sections),
      shared,
    );
    return again.flatMap((one, i) => (all[i] === undefined ? [] : [[...all[i], one]]));
  }

  async #saidIn(thread: StoredThread, items: readonly ReadMessage[]): Promise<Said[]> {
    const said: Omit<Said, "turn">[] = [];
    const hashes: string[] = [];
    for (const item of items) {
      const message = item.compaction === undefined ? parsed(item.body) : undefined;
      const text = message?.role === "user" ? userText(message) : "";
      if (message === undefined || text === "") continue;
      said.push({ item, message });
      hashes.push(await messageHash(text));
    }
    const names = await this.#namesIn(thread, hashes, items[0]?.seq);
    return said.map((one, i) => ({ ...one, turn: names[i] ?? "" }));
  }

  /** The names of the turns of a page. How often a turn was repeated before it is counted only if one was. */
  async #namesIn(
    thread: StoredThread,
    hashes: readonly string[],
    from: number | undefined,
  ): Promise<string[]> {
    const [before = ""] = await this.#hashesBefore(thread, from, 1);
    const repeated = await Promise.all(hashes.map((hash, i) => turnName(hashes[i - 1] ?? before, hash, 1)));
    if (this.of(thread, repeated).size === 0) return turnNames(hashes, before);
    const all = await this.#hashesBefore(thread, from, LOOKED_AT);
    return (await turnNames([...all, ...hashes])).slice(all.length);
  }

  /** The hashes of the last messages of the user before a seq, so many at most, in their order. */
  async #hashesBefore(thread: StoredThread, seq: number | undefined, most: number): Promise<string[]> {
    const { reader } = this.#deps.stores;
    const hashes: string[] = [];
    let left = LOOKED_AT;
    for (const { body } of seq === undefined
      ? []
      : reader.walk(thread, { order: "newest", view: "raw", from: seq, slice: 8 })) {
      if (left-- === 0 || hashes.length === most) break;
      const message = parsed(body);
      const text = message.role === "user" ? userText(message) : "";
      if (text !== "") hashes.push(await messageHash(text));
    }
    return hashes.toReversed();
  }
}

const encoder = new TextEncoder();
