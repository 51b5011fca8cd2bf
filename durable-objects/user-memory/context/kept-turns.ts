import { messageHash, turnNames, userText } from "../../../src/domain/context/message-hash.ts";
import type { ReadMessage } from "../../../src/domain/page-json.ts";
import type { ContextRequest, PlacedSection } from "../../../src/contract/user-memory.ts";
import { parsed } from "../threads/message-documents.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { ContextItems, ResolvedSection } from "./context-items.ts";
import { type AskedTurn, type ContextStore, keyOf, type KeptTurn, type TurnPlace } from "./context-store.ts";
import { followingTurn, listedTurn, type Turn, userMessages } from "./prompted-turns.ts";
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

/** A kept block as it is now. `left`: its places without those where nothing is; `isReduced`: there are such. */
export type Reread = { resolved: ResolvedSection[]; left: PlacedSection[]; isReduced: boolean };

/** A message of the user, and its turn. */
type Said = { item: ReadMessage; place: TurnPlace };

/** Reads the blocks of turns again, as far as what they show still exists. */
export class KeptTurns {
  readonly #deps: Dependencies;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** The turns of a prompt, whose caller may have listed its messages; null where there are none. */
  async inPrompt(
    thread: StoredThread,
    { query, messages = [], history, format }: ContextRequest,
  ): Promise<Turn | null> {
    const { stores } = this.#deps;
    const naming = { stores, kept: (turns: readonly AskedTurn[]) => this.#keptNames(thread, turns) };
    const hasCurrent = query !== undefined;
    // The format `messages` makes the whole prompt, of which a list tells all.
    const isAll = history === undefined || format === "messages";
    if (isAll && messages.length > 0) return listedTurn(naming, thread, { messages, hasCurrent });
    if (isAll && !hasCurrent) return null;
    const behind = messages.length > 0 || !hasCurrent ? messages : [await messageHash(query.given)];
    return followingTurn(naming, thread, { held: history, behind, hasCurrent });
  }

  #keptNames(thread: StoredThread, turns: readonly AskedTurn[]): (string | null)[] {
    const { store, stores } = this.#deps;
    const line = Array.from(stores.lineage.segments(thread), ({ n, to }) => ({ n, to }));
    return store.keptNames(line, turns);
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
      return { resolved, left, isReduced: resolved.some(({ lost }) => lost > 0) };
    });
  }

  /** The texts of turns by their names. Stores what is left of each block, so that a loss (`isReduced`) is told once. */
  texts(turns: Turns, shared: SharedItems): Map<string, { text: string; isReduced: boolean }> {
    return new Map(
      this.#read(turns, shared).map(([name, kept, { resolved, left, isReduced }]) => {
        if (isReduced)
          this.#deps.store.reduceTurn({ ...kept, block: { ...kept.block, sections: left } }, name);
        return [name, { text: textOf(resolved, kept.block), isReduced }];
      }),
    );
  }

  /** The messages, each one of the user with the block that it was sent with. */
  async prompted(
    thread: StoredThread,
    items: readonly ReadMessage[],
  ): Promise<{ items: ReadMessage[]; turns: Turns; shared: SharedItems }> {
    const said = await this.#saidIn(thread, items);
    const turns = this.of(
      thread,
      said.flatMap(({ turn }) => turn ?? []),
    );
    const kept = [...turns.values()].flatMap(({ block }) => block.sections);
    const shared = await this.#deps.shared.items(kept);
    const texts = new Map(
      this.#read(turns, shared).map(([name, { block }, { resolved }]) => [name, textOf(resolved, block)]),
    );
    const blocks = new Map(
      said.map(({ item, turn }) => [item, turn === null ? "" : (texts.get(turn) ?? "")]),
    );
    const prompted = items.map((item) => {
      const block = blocks.get(item) ?? "";
      return { ...item, ...(block !== "" && { block }) };
    });
    return { items: prompted, turns, shared };
  }

  #read(turns: Turns, shared: SharedItems): [name: string, kept: KeptTurn, again: Reread][] {
    const all = [...turns];
    const again = this.reread(
      all.map(([, { block }]) => block.sections),
      shared,
    );
    return again.flatMap((one, i) => (all[i] === undefined ? [] : [[...all[i], one]]));
  }

  /** The messages of the user in a page, each with the name of its turn if that has a block. */
  async #saidIn(
    thread: StoredThread,
    items: readonly ReadMessage[],
  ): Promise<{ item: ReadMessage; turn: string | null }[]> {
    const { stores } = this.#deps;
    const said: Said[] = [];
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
        if (said.length === 0 && last !== undefined) before = await messageHash(last.text);
        previous = last ?? { seq: 0 };
      }
      said.push({
        item,
        place: { hash: await messageHash(text), from: previous.seq, to: item.seq },
      });
      previous = item;
    }
    const counted = await turnNames(
      said.map(({ place }) => place.hash),
      before,
    );
    const names = this.#keptNames(
      thread,
      said.map(({ place }, i) => ({ place, counted: counted[i] ?? "" })),
    );
    return said.map(({ item }, i) => ({ item, turn: names[i] ?? null }));
  }
}

/** True if something that a turn showed is gone. */
export const isAnyReduced = (texts: ReadonlyMap<string, { isReduced: boolean }>): boolean =>
  [...texts.values()].some(({ isReduced }) => isReduced);
