import type { LayerName } from "../../../src/domain/context/block.ts";
import { messageHash, turnName, userText } from "../../../src/domain/context/message-hash.ts";
import { withBlock } from "../../../src/domain/context/prompted-message.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import type { MessagePage, ReadMessage } from "../../../src/domain/page-json.ts";
import type { ContextAnswer, ContextCandidate } from "../../../src/domain/schema/context.ts";
import type { ContextRequest, MessagesQuery, PromptContext } from "../contract.ts";
import { positionOf } from "../core/position.ts";
import type { Transactions } from "../core/transactions.ts";
import { parsed } from "../threads/message-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { ContextItems, type ItemDependencies } from "./context-items.ts";
import { keyOf, type TurnBlock } from "./context-store.ts";
import { fittedSections, placed, type Section, textOf, tokensOf } from "./fitted-sections.ts";
import { type FoundLayer, LayerSearch, type Searched } from "./layer-search.ts";
import { currentTurn, lastMessages } from "./prompted-turns.ts";
import { type Stable, StableBlocks } from "./stable-blocks.ts";

type ContextDependencies = ItemDependencies & {
  recall: RecallService;
  transactions: Transactions;
  now: () => number;
};

/** The messages at the end of a thread that a prompt is taken to hold. */
const HELD = 20;

/** The current turn, and the earlier ones of the caller's prompt. */
type Turn = { name: string; isStored: boolean; earlier: readonly { index: number; name: string }[] };
type Prompted = { thread: StoredThread | null; turn: Turn | null; searched: Searched };
type Answer = Omit<ContextAnswer, "etag" | "stable"> & { stable: { text: string; tokens: number } };

/** Makes the memory of a prompt: a stable block for the thread, and a block for each turn, which is kept with it. */
export class ContextService {
  readonly #deps: ContextDependencies;
  readonly #items: ContextItems;
  readonly #stable: StableBlocks;
  readonly #search: LayerSearch;

  constructor(deps: ContextDependencies) {
    const { store, table, stores, recall, now } = deps;
    this.#deps = deps;
    this.#items = new ContextItems(deps);
    this.#stable = new StableBlocks({ store, table, compactions: stores.compactions, items: this.#items });
    this.#search = new LayerSearch({ recall, items: this.#items, now });
  }

  async context(request: ContextRequest): Promise<Result<PromptContext>> {
    const { stores, transactions } = this.#deps;
    const thread = request.threadId === undefined ? null : stores.threads.get(request.threadId);
    if (thread === null && request.threadId !== undefined)
      return fail("not_found", {
        details: [{ path: "body.threadId", message: "is no thread of this user" }],
      });
    const turn = thread === null ? null : await this.#turn(thread, request);
    const searched = this.#isKept(request, thread, turn) ? { found: [] } : await this.#search.search(request);
    // Nothing waits from here on: of two calls for one turn, the second finds what the first kept.
    const answer = transactions.atomically(() => this.#answer(request, { thread, turn, searched }));
    const history =
      thread === null || request.history === undefined
        ? {}
        : { history: await this.#history(thread, request.history), isStored: turn?.isStored ?? false };
    return ok({ ...history, ...(await withEtags(answer)) });
  }

  /** The last messages of a thread, with the blocks that they were sent with. */
  async #history(thread: StoredThread, limit: number): Promise<ReadMessage[]> {
    const query: MessagesQuery = { order: "newest", limit, view: "compacted", wholeTurns: true };
    return this.#promptedItems(thread, this.#deps.stores.reader.page(thread, query).items);
  }

  /** A page of the thread as its prompts had it: each message of the user with the block that it was sent with. */
  async prompted(id: string, query: MessagesQuery): Promise<Result<MessagePage>> {
    const { stores } = this.#deps;
    const thread = stores.threads.get(id);
    if (thread === null) return fail("not_found");
    const page = stores.reader.page(thread, query);
    return ok({ ...page, items: await this.#promptedItems(thread, page.items) });
  }

  async #promptedItems(thread: StoredThread, items: readonly ReadMessage[]): Promise<ReadMessage[]> {
    const line = this.#lineOf(thread);
    const prompted: ReadMessage[] = [];
    let before = await this.#hashBefore(thread, items[0]?.seq);
    for (const item of items) {
      const message = item.compaction === undefined ? parsed(item.body) : undefined;
      const text = message?.role === "user" ? userText(message) : "";
      if (message === undefined || text === "") {
        prompted.push(item);
        continue;
      }
      const hash = await messageHash(text);
      const turn = this.#deps.store.turn(line, await turnName(before, hash));
      const block = this.#shownAgain(turn, this.#deps.now()).text;
      before = hash;
      prompted.push(
        block === "" ? item : { ...item, body: encoder.encode(JSON.stringify(withBlock(message, block))) },
      );
    }
    return prompted;
  }

  async #turn(thread: StoredThread, { query, messages }: ContextRequest): Promise<Turn | null> {
    if (messages !== undefined && messages.length > 0) {
      const names = await Promise.all(messages.map((hash, i) => turnName(messages[i - 1], hash)));
      const earlier = names.slice(0, -1).map((name, index) => ({ index, name }));
      return { name: names.at(-1) ?? "", isStored: false, earlier };
    }
    if (query === undefined) return null;
    const { before, hash, isStored } = await currentTurn(this.#deps.stores, thread, query.given);
    return { name: await turnName(before, hash), isStored, earlier: [] };
  }

  /** The hash of the last message of the user before a seq. */
  async #hashBefore(thread: StoredThread, seq: number | undefined): Promise<string | undefined> {
    if (seq === undefined) return undefined;
    const { reader } = this.#deps.stores;
    for (const { body } of reader.walk(thread, { order: "newest", view: "raw", from: seq, slice: 8 })) {
      const message = parsed(body);
      const text = message.role === "user" ? userText(message) : "";
      if (text !== "") return messageHash(text);
    }
    return undefined;
  }

  /** The threads whose turns are this one's too: itself, and those that it was forked from. */
  #lineOf(thread: StoredThread): number[] {
    return Array.from(this.#deps.stores.lineage.segments(thread), ({ n }) => n);
  }

  #isKept({ snapshot }: ContextRequest, thread: StoredThread | null, turn: Turn | null): boolean {
    const { store, now } = this.#deps;
    if (snapshot !== undefined && store.run(snapshot.name, now()) !== null) return true;
    return thread !== null && turn !== null && store.turn(this.#lineOf(thread), turn.name) !== null;
  }

  #answer(request: ContextRequest, { thread, turn, searched }: Prompted): Answer {
    const { store } = this.#deps;
    const now = this.#deps.now();
    const { snapshot } = request;
    const run = snapshot === undefined ? null : store.run(snapshot.name, now);
    if (run !== null) {
      const [stable, sections] = [run.stable, run.sections].map((some) => this.#items.resolve(some, now));
      return answerOf({
        ...run,
        stable: textOf(stable ?? [], run.format),
        recalled: textOf(sections ?? [], run.format),
      });
    }
    const line = thread === null ? [] : this.#lineOf(thread);
    const stable = this.#stable.current(request, thread, now);
    const earlier = (turn?.earlier ?? []).map(({ index, name }) => ({
      index,
      block: store.turn(line, name),
    }));
    const kept = turn === null ? null : store.turn(line, turn.name);
    const made =
      kept === null
        ? this.#turnBlock(request, {
            thread,
            searched,
            stable,
            earlier: earlier.map(({ block }) => block),
            now,
          })
        : { block: kept, sections: this.#items.resolve(kept.sections, now), candidates: [] };
    if (thread !== null) {
      const told = kept === null ? made.block.sections.filter(({ layer }) => layer === "changes") : [];
      this.#stable.keep(thread, { stable, told: told.flatMap(({ places }) => places), now });
      if (turn !== null && kept === null) store.putTurn(thread.n, turn.name, made.block, now);
    }
    const meta = [...stable.meta, ...made.block.meta];
    if (snapshot !== undefined)
      store.putRun(
        snapshot.name,
        { ...made.block, meta, stable: placed(stable.sections) },
        {
          now,
          expiresAt: now + snapshot.ttlMs,
        },
      );
    const pinned = earlier.map(({ index, block }) => ({ index, ...this.#shownAgain(block, now) }));
    return {
      ...answerOf({
        ...made.block,
        meta,
        stable: stable.text,
        recalled: textOf(made.sections, made.block.format),
      }),
      ...(request.messages !== undefined && {
        pinned: pinned.flatMap(({ index, text }) => (text === "" ? [] : [{ index, text }])),
      }),
      ...(turn !== null && { pin: turn.name }),
      ...(request.explain && { candidates: [...stable.candidates, ...made.candidates] }),
      ...((stable.isRenewed || pinned.some(({ isLess }) => isLess)) && { prefixChanged: true as const }),
    };
  }

  /** The text of a kept block; `isLess`: something in it is gone. */
  #shownAgain(block: TurnBlock | null, now: number): { text: string; isLess: boolean } {
    if (block === null) return { text: "", isLess: false };
    const resolved = this.#items.resolve(block.sections, now);
    return { text: textOf(resolved, block.format), isLess: resolved.some(({ lost }) => lost > 0) };
  }

  #turnBlock(
    request: ContextRequest,
    {
      thread,
      searched,
      stable,
      earlier,
      now,
    }: {
      thread: StoredThread | null;
      searched: Searched;
      stable: Stable;
      earlier: readonly (TurnBlock | null)[];
      now: number;
    },
  ): { block: TurnBlock; sections: readonly Section[]; candidates: readonly ContextCandidate[] } {
    const { layers, scope, format, budget } = request;
    const shown = new Set([
      ...stable.sections.flatMap(({ items }) => items.map(({ place }) => keyOf(place))),
      ...earlier.flatMap((block) => block?.sections.flatMap(({ places }) => places.map(keyOf)) ?? []),
      ...(thread === null ? [] : this.#held(thread, request.messages?.length)),
    ]);
    const changes: FoundLayer & { name: LayerName } = {
      layer: { layer: { type: "facts" }, slot: 0, min: 0, max: budget, stable: false },
      name: "changes",
      items: stable.changes,
      ms: 0,
      status: "ok",
    };
    const ofTurn = layers.filter(({ stable: isStable, layer }) => !isStable && layer.type !== "history");
    const found = Array.from(this.#items.ofLayers(ofTurn, { now, scope, thread }), ([layer, recent]) => {
      const search = searched.found.find((one) => one.layer === layer) ?? { ms: 0, status: "ok" as const };
      const items = [...recent, ...("items" in search ? search.items : [])];
      return { ...search, layer, name: layer.layer.type, items };
    });
    // The prompt holds what was made of its own messages.
    const said = new Set(request.messages);
    for (const { place, message } of found.flatMap(({ items }) => items))
      if (message !== undefined && said.has(message)) shown.add(keyOf(place));
    const { sections, meta, candidates } = fittedSections(
      [...(stable.changes.length > 0 ? [changes] : []), ...found],
      {
        budget: budget - tokensOf(stable.text),
        format,
        block: "recalled",
        shown,
      },
    );
    if (thread !== null || request.snapshot !== undefined)
      for (const { items } of sections) this.#items.keepEntries(thread?.n ?? 0, items, now);
    const { confidence, abstained } = searched;
    return {
      block: {
        format,
        sections: placed(sections),
        meta,
        ...(confidence !== undefined && { confidence }),
        ...(abstained && { abstained }),
      },
      sections,
      candidates,
    };
  }

  /** Keys of the messages that the prompt holds: the thread's last 20, or all since so many of the user's. */
  #held(thread: StoredThread, ofUser: number | undefined): string[] {
    const { stores } = this.#deps;
    const held: string[] = [];
    let users = 0;
    for (const { seq, message } of lastMessages(stores, thread)) {
      if (ofUser === undefined ? held.length === HELD : users >= ofUser) break;
      if (message.role === "user") users++;
      held.push(String(positionOf(stores.lineage.owner(thread, seq), seq)));
    }
    return held;
  }
}

const encoder = new TextEncoder();

const answerOf = ({
  stable,
  recalled,
  meta,
  confidence,
  abstained,
}: Omit<TurnBlock, "sections"> & { stable: string; recalled: string }): Answer => ({
  stable: { text: stable, tokens: tokensOf(stable) },
  recalled: { text: recalled, tokens: tokensOf(recalled) },
  sections: meta,
  tokens: tokensOf(stable) + tokensOf(recalled),
  ...(confidence !== undefined && { confidence }),
  ...(abstained && { abstained }),
});

async function withEtags({ stable, ...answer }: Answer): Promise<ContextAnswer> {
  const [stableTag, etag] = await Promise.all([
    hash16(stable.text),
    hash16(JSON.stringify([stable.text, answer.recalled.text, answer.pinned ?? []])),
  ]);
  return { ...answer, stable: { ...stable, etag: stableTag }, etag };
}
