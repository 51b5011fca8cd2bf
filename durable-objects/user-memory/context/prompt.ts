import type { CountTokens, TokenizerName } from "../../../src/domain/context/tokens.ts";
import type { Place } from "../../../src/domain/context/item.ts";
import { steadyWindow } from "../../../src/domain/conversation/history-window.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { ContextRequest, PlacedSection, PromptContext } from "../../../src/contract/user-memory.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import { positionOf } from "../core/position.ts";
import type { Transactions } from "../core/transactions.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { BlockNow, ContextItems } from "./context-items.ts";
import { type ContextStore, keyOf, NO_THREAD, type RunBlock, type TurnBlock } from "./context-store.ts";
import { type Form, placed, tokensOf } from "./fitted-sections.ts";
import type { LayerSearch, Searched } from "./layer-search.ts";
import type { PromptedMessages, Turns } from "./prompted-messages.ts";
import { type SharedItems, sharedKey, type SharedOwners } from "./shared-owners.ts";
import type { Stable, StableBlocks } from "./stable-blocks.ts";
import type { TurnBlocks, TurnText } from "./turn-blocks.ts";
import { HELD, lastMessages, type Turn } from "./turn-names.ts";

export type PromptParts = {
  store: ContextStore;
  stores: ThreadStores;
  items: ContextItems;
  search: LayerSearch;
  shared: SharedOwners;
  stable: StableBlocks;
  prompted: PromptedMessages;
  turnBlocks: TurnBlocks;
  transactions: Transactions;
  /** Grows with each erasure of the user. */
  erasureEpoch: Pick<ErasureEpoch, "current">;
  tokenCounter: (name: TokenizerName) => Promise<CountTokens>;
  now: () => number;
};

/** `epoch`: the number of the user's erasures before the call. */
type Call = {
  request: ContextRequest;
  thread: StoredThread | null;
  turn: Turn | null;
  epoch: number;
};
/** The blocks that were made before: the snapshot, and those of turns by their names. */
type StoredBlocks = { run: RunBlock | null; turns: Turns };
/** The finds for an answer. */
type Found = { searched: Searched; shared: SharedItems; form: Form };
/** `isChanged`: the provider may have cached another prefix. */
type Changing = { answer: Answer; isChanged: boolean };
export type Answer = Omit<PromptContext, "etag" | "stable"> & { stable: { text: string; tokens: number } };

/** One call for the memory of a prompt: a stored snapshot, a stored turn, or a new turn. */
export class Prompt {
  readonly #parts: PromptParts;
  readonly #call: Call;

  constructor(parts: PromptParts, call: Call) {
    this.#parts = parts;
    this.#call = call;
  }

  async answer(): Promise<Result<Answer>> {
    const { search, shared, tokenCounter } = this.#parts;
    const { request, turn } = this.#call;
    const { format, sources = false, tokenizer } = request;
    const stored = this.#stored();
    const isStored = stored.run !== null || stored.turns.has(turn?.name ?? "");
    const [searched, read, count] = await Promise.all([
      isStored ? { layers: [] } : search.search(request),
      shared.items(sectionsOf(stored)),
      tokenCounter(tokenizer).catch((error: unknown) => {
        console.error({ message: "a tokenizer is unavailable", error: String(error) });
        return null;
      }),
    ]);
    if (count === null)
      return fail("storage_unavailable", {
        details: [{ path: "body.tokenizer", message: "could not be loaded" }],
      });
    return this.#answerOnce({ searched, shared: read, form: { format, sources, count } });
  }

  /** The blocks that were made before: of the snapshot, of this turn and of earlier ones. */
  #stored(): StoredBlocks {
    const { store, stores, now } = this.#parts;
    const { request, thread } = this.#call;
    const { snapshot } = request;
    return {
      run: snapshot === undefined ? null : store.run(snapshot.name, now()),
      turns: thread === null ? new Map() : store.turns(stores.lineage.segments(thread), this.#names()),
    };
  }

  /** The names of the prompt's turns. */
  #names(): string[] {
    const { turn } = this.#call;
    return [turn?.name ?? [], (turn?.earlier ?? []).map(({ name }) => name)].flat();
  }

  /** Makes the answer in one step: of two calls for one turn, the second finds the block that the first stored. */
  async #answerOnce(found: Found): Promise<Result<Answer>> {
    const { transactions, stores, shared, erasureEpoch } = this.#parts;
    const { thread, epoch } = this.#call;
    const answer = (read: SharedItems, isLast: boolean): Result<Answer> | PlacedSection[] =>
      transactions.atomically(() => {
        if (erasureEpoch.current !== epoch) return fail("erased_meanwhile");
        if (thread !== null && stores.threads.get(thread.id) === null) return NO_SUCH_THREAD;
        const stored = this.#stored();
        const sections = sectionsOf(stored);
        // Another call has stored a block since, with memories of shared owners that this one has not read.
        if (!isLast && sections.some((one) => isUnread(one, read))) return sections;
        return ok(this.#answer(stored, { ...found, shared: read }));
      });
    const first = answer(found.shared, false);
    if (!Array.isArray(first)) return first;
    const second = answer(await shared.items(first), true);
    if (Array.isArray(second)) throw new Error("the last answer asks for more");
    return second;
  }

  #answer({ run, turns }: StoredBlocks, found: Found): Answer {
    const { prompted } = this.#parts;
    const { request, turn } = this.#call;
    const blocks = prompted.blocks(turns, found.shared);
    const isReduced = prompted.reduce(turns, blocks);
    const { answer, isChanged } =
      run === null ? this.#ofTurn(turns, blocks, found) : this.#ofSnapshot(run, found);
    const pinned = (turn?.earlier ?? []).flatMap(({ index, name }) => {
      const text = index < 0 ? "" : (blocks.get(name)?.text ?? "");
      return text === "" ? [] : [{ index, text }];
    });
    return {
      ...answer,
      ...(request.messages !== undefined && { pinned }),
      ...(turn?.name !== undefined && { pin: turn.name }),
      ...((isChanged || isReduced) && { prefixChanged: true as const }),
    };
  }

  /** The answer of a snapshot, as far as it still exists. */
  #ofSnapshot(run: RunBlock, { shared, form: { count } }: Found): Changing {
    const { store, items, now } = this.#parts;
    const { request, thread } = this.#call;
    if (thread !== null) store.use(thread.n, now());
    const blocks = new Map([
      ["stable", { ...run, sections: run.stable }],
      ["recalled", run],
    ]);
    const { stable, recalled } = Object.fromEntries(items.blocks(blocks, now(), shared));
    if (stable === undefined || recalled === undefined) throw new Error("a snapshot has two blocks");
    const isChanged = stable.isReduced || recalled.isReduced;
    if (isChanged && request.snapshot !== undefined)
      store.reduceRun(request.snapshot.name, { ...run, stable: stable.left, sections: recalled.left });
    return { answer: answerOf(run, [stable.text, recalled.text], count), isChanged };
  }

  /** The stable block, and the stored block of the turn, or a new one. */
  #ofTurn(turns: Turns, blocks: ReadonlyMap<string, BlockNow>, { searched, form }: Found): Changing {
    const { items, stable: stableBlocks, turnBlocks, store } = this.#parts;
    const { request, thread, turn } = this.#call;
    const now = this.#parts.now();
    const name = turn?.name;
    const prompt = { thread, turns: this.#knownTurns(), messages: this.#messages(), form, now };
    const stable = stableBlocks.current(request, prompt);
    const stored = name === undefined ? undefined : turns.get(name);
    const earlier = (turn?.earlier ?? []).flatMap((one) => turns.get(one.name)?.block ?? []);
    const { block, text, candidates }: TurnText =
      stored === undefined
        ? turnBlocks.make(request, { ...prompt, searched, stable, earlier })
        : { block: stored.block, text: blocks.get(name ?? "")?.text ?? "", candidates: [] };
    if (thread !== null) {
      const news = stored === undefined && name !== undefined ? changesIn(block, stable) : [];
      stableBlocks.put(thread, stable, { news, turn: name, now });
      if (stored === undefined && name !== undefined) store.putTurn(thread.n, name, block, now);
    }
    const made = { ...block, meta: [...stable.meta, ...block.meta] };
    if (request.snapshot !== undefined) {
      const { name: run, ttlMs } = request.snapshot;
      store.putRun(run, { ...made, stable: placed(stable.sections) }, { now, expiresAt: now + ttlMs });
      items.copyEntries(NO_THREAD, stable.sections, now);
    }
    const answer = {
      ...answerOf(made, [stable.text, text], form.count),
      ...(request.explain && { candidates: [...stable.candidates, ...candidates] }),
    };
    return { answer, isChanged: stable.isRenewed };
  }

  /** The turns that the prompt holds. A caller that sends no hashes may hold more than the last ones. */
  #knownTurns(): ReadonlySet<string> | undefined {
    const { messages, history } = this.#call.request;
    return (messages ?? history) === undefined ? undefined : new Set(this.#names());
  }

  /** Keys of the messages that the prompt holds: all since so many of the user's, its history, or the thread's last ones. */
  #messages(): ReadonlySet<string> {
    const { stores } = this.#parts;
    const { request, thread } = this.#call;
    if (thread === null) return new Set();
    const { messages, history = HELD } = request;
    const seqs: { seq: number }[] = [];
    let users = 0;
    for (const { seq, message } of lastMessages(stores, thread)) {
      if (messages === undefined ? seqs.length === history : users >= messages.length) break;
      if (message.role === "user") users++;
      seqs.unshift({ seq });
    }
    const isWindow = messages === undefined && seqs.length === history;
    const shown = isWindow ? steadyWindow(seqs) : seqs;
    return new Set(shown.map(({ seq }) => String(positionOf(stores.lineage.owner(thread, seq), seq))));
  }
}

export const NO_SUCH_THREAD = fail("not_found", {
  details: [{ path: "body.threadId", message: "is no thread of this user" }],
});

const sectionsOf = ({ run, turns }: StoredBlocks): PlacedSection[] => [
  ...(run === null ? [] : [...run.stable, ...run.sections]),
  ...[...turns.values()].flatMap(({ block }) => block.sections),
];

/** The changes of the stable block that a turn's block tells. */
function changesIn({ sections }: TurnBlock, { changes }: Stable): Place[] {
  const keys = new Set(changes.map(({ place }) => keyOf(place)));
  return sections.flatMap(({ places }) => places.filter((place) => keys.has(keyOf(place))));
}

/** True if the section has memories of a shared owner that were not read. */
const isUnread = ({ layer, places }: PlacedSection, shared: SharedItems): boolean =>
  places.some((place) => "n" in place && place.owner !== undefined && !shared.has(sharedKey(layer, place)));

function answerOf(
  { meta: sections, confidence, abstained, recallId }: TurnBlock,
  [stable, recalled]: readonly [stable: string, recalled: string],
  count: CountTokens,
): Answer {
  const block = (text: string) => ({ text, tokens: tokensOf(text, count) });
  return {
    stable: block(stable),
    recalled: block(recalled),
    sections,
    tokens: tokensOf(stable, count) + tokensOf(recalled, count),
    ...(confidence !== undefined && { confidence }),
    ...(abstained && { abstained }),
    ...(recallId !== undefined && { recallId }),
  };
}
