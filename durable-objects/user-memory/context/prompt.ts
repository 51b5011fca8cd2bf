import type { CountTokens, TokenizerName } from "../../../src/domain/context/tokens.ts";
import { steadyWindow } from "../../../src/domain/conversation/history-window.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import type { ContextCandidate } from "../../../src/domain/schema/context.ts";
import type { ContextRequest, PlacedSection, PromptContext } from "../../../src/contract/user-memory.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import { positionOf } from "../core/position.ts";
import type { Transactions } from "../core/transactions.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { ThreadStores } from "../threads/thread-stores.ts";
import type { ContextItems } from "./context-items.ts";
import { type ContextStore, keyOf, NO_THREAD, type RunBlock, type TurnBlock } from "./context-store.ts";
import { type Form, placed, textOf, tokensOf } from "./fitted-sections.ts";
import { isAnyReduced, type KeptTurns, type Turns } from "./kept-turns.ts";
import type { LayerSearch, Searched } from "./layer-search.ts";
import { HELD, lastMessages, type Turn } from "./prompted-turns.ts";
import { type SharedItems, sharedKey, type SharedOwners } from "./shared-owners.ts";
import type { Stable, StableBlocks } from "./stable-blocks.ts";
import type { NewTurn, TurnBlocks } from "./turn-blocks.ts";

export type PromptParts = {
  store: ContextStore;
  stores: ThreadStores;
  items: ContextItems;
  search: LayerSearch;
  shared: SharedOwners;
  stable: StableBlocks;
  turns: KeptTurns;
  turnBlocks: TurnBlocks;
  transactions: Transactions;
  /** Grows with each erasure of the user. */
  erasureEpoch: Pick<ErasureEpoch, "current">;
  tokenCounter: (name: TokenizerName) => Promise<CountTokens>;
  now: () => number;
};

/** The blocks that were made before: the snapshot, and those of turns by their names. */
type KeptBlocks = { run: RunBlock | null; turns: Turns };
/** The finds for an answer. */
type Found = { searched: Searched; shared: SharedItems; form: Form };
/** The texts of the turns that were kept, as far as they still exist. */
type Texts = ReturnType<KeptTurns["texts"]>;
/** `isChanged`: the provider may have cached another prefix. */
type Changing = { answer: Answer; isChanged: boolean };
export type Answer = Omit<PromptContext, "etag" | "stable"> & { stable: { text: string; tokens: number } };

/** One call for the memory of a prompt: a snapshot that was kept, a turn that was kept, or a new turn. */
export class Prompt {
  readonly #parts: PromptParts;
  readonly #request: ContextRequest;
  readonly #thread: StoredThread | null;
  readonly #turn: Turn | null;
  /** The number of the user's erasures before the call. */
  readonly #epoch: number;

  constructor(
    parts: PromptParts,
    request: ContextRequest,
    { thread, turn, epoch }: { thread: StoredThread | null; turn: Turn | null; epoch: number },
  ) {
    this.#parts = parts;
    this.#request = request;
    this.#thread = thread;
    this.#turn = turn;
    this.#epoch = epoch;
  }

  async answer(): Promise<Result<Answer>> {
    const { search, shared, tokenCounter } = this.#parts;
    const { format, sources = false, tokenizer } = this.#request;
    const kept = this.#kept();
    const name = this.#turn?.name;
    const isKept = kept.run !== null || (name !== undefined && kept.turns.has(name));
    const [searched, read, count] = await Promise.all([
      isKept ? { layers: [] } : search.search(this.#request),
      shared.items(sectionsOf(kept)),
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
  #kept(): KeptBlocks {
    const { store, turns, now } = this.#parts;
    const { snapshot } = this.#request;
    const names = [this.#turn?.name ?? [], this.#earlier()].flat();
    return {
      run: snapshot === undefined ? null : store.run(snapshot.name, now()),
      turns: this.#thread === null ? new Map() : turns.of(this.#thread, names),
    };
  }

  #earlier(): string[] {
    return (this.#turn?.earlier ?? []).map(({ name }) => name);
  }

  /** Makes the answer in one step: of two calls for one turn, the second finds the block that the first kept. */
  async #answerOnce(found: Found): Promise<Result<Answer>> {
    const { transactions, stores, shared, erasureEpoch } = this.#parts;
    const answer = (read: SharedItems, isLast: boolean): Result<Answer> | PlacedSection[] =>
      transactions.atomically(() => {
        if (erasureEpoch.current !== this.#epoch) return fail("erased_meanwhile");
        if (this.#thread !== null && stores.threads.get(this.#thread.id) === null) return NO_SUCH_THREAD;
        const kept = this.#kept();
        const sections = sectionsOf(kept);
        // Another call has kept a block since, with memories of shared owners that this one has not read.
        if (!isLast && sections.some((one) => isUnread(one, read))) return sections;
        return ok(this.#answer(kept, { ...found, shared: read }));
      });
    const first = answer(found.shared, false);
    if (!Array.isArray(first)) return first;
    const second = answer(await shared.items(first), true);
    if (Array.isArray(second)) throw new Error("the last answer asks for more");
    return second;
  }

  #answer({ run, turns }: KeptBlocks, found: Found): Answer {
    const { snapshot, messages } = this.#request;
    const name = this.#turn?.name;
    const texts = this.#parts.turns.texts(turns, found.shared);
    const { answer, isChanged } =
      run !== null && snapshot !== undefined
        ? this.#ofSnapshot(run, snapshot.name, found)
        : this.#ofTurn(turns, texts, found);
    return {
      ...answer,
      ...(messages !== undefined && { pinned: this.#pinned(texts) }),
      ...(name !== undefined && { pin: name }),
      ...((isChanged || isAnyReduced(texts)) && { prefixChanged: true as const }),
    };
  }

  /** The blocks of the earlier messages that the caller lists. */
  #pinned(texts: Texts): { index: number; text: string }[] {
    return (this.#turn?.earlier ?? []).flatMap(({ index, name }) => {
      const text = index < 0 ? "" : (texts.get(name)?.text ?? "");
      return text === "" ? [] : [{ index, text }];
    });
  }

  /** The answer that a snapshot kept, as far as it still exists. */
  #ofSnapshot(run: RunBlock, name: string, { shared, form: { count } }: Found): Changing {
    const { store, turns, now } = this.#parts;
    if (this.#thread !== null) store.use(this.#thread.n, now());
    const [stable, turn] = turns.reread([run.stable, run.sections], shared);
    const isReduced = stable?.isReduced === true || turn?.isReduced === true;
    if (isReduced) store.reduceRun(name, { ...run, stable: stable?.left ?? [], sections: turn?.left ?? [] });
    const texts = {
      stable: textOf(stable?.resolved ?? [], run),
      recalled: textOf(turn?.resolved ?? [], run),
    };
    return { answer: answerOf(run, texts, count), isChanged: isReduced };
  }

  /** The stable block, and the block that the turn kept, or a new one. */
  #ofTurn(turns: Turns, texts: Texts, found: Found): Changing {
    const { form } = found;
    const now = this.#parts.now();
    const name = this.#turn?.name;
    const held = new Set(this.#thread === null ? [] : this.#held(this.#thread));
    const stable = this.#parts.stable.current(this.#request, {
      thread: this.#thread,
      turns: this.#promptTurns(),
      held,
      form,
      now,
    });
    const kept = name === undefined ? undefined : turns.get(name);
    const { block, text, candidates } =
      kept === undefined
        ? this.#newTurn(turns, found, { stable, held, now })
        : this.#keptTurn(kept.block, texts, { stable, now });
    const made = { ...block, meta: [...stable.meta, ...block.meta] };
    this.#keepRun(made, stable, now);
    const answer = {
      ...answerOf(made, { stable: stable.text, recalled: text }, form.count),
      ...(this.#request.explain && { candidates: [...stable.candidates, ...candidates] }),
    };
    return { answer, isChanged: stable.isRenewed };
  }

  /** The turns that the prompt holds. A caller that sends no hashes may hold more than the last ones. */
  #promptTurns(): ReadonlySet<string> | undefined {
    const { messages, history } = this.#request;
    const isKnown = messages !== undefined || history !== undefined;
    return isKnown ? new Set([this.#turn?.name ?? [], this.#earlier()].flat()) : undefined;
  }

  /** The block that the turn kept. */
  #keptTurn(
    block: TurnBlock,
    texts: Texts,
    { stable, now }: { stable: Stable; now: number },
  ): { block: TurnBlock; text: string; candidates: readonly ContextCandidate[] } {
    const turn = this.#turn?.name;
    if (this.#thread !== null) this.#parts.stable.keep(this.#thread, { stable, told: [], turn, now });
    return { block, text: texts.get(turn ?? "")?.text ?? "", candidates: [] };
  }

  /** A new block of the turn, which tells what has changed of the stable one, and is kept if the turn has a name. */
  #newTurn(
    turns: Turns,
    { searched, form }: Found,
    { stable, held, now }: { stable: Stable; held: ReadonlySet<string>; now: number },
  ): NewTurn & { text: string } {
    const thread = this.#thread;
    const earlier = this.#earlier().flatMap((one) => turns.get(one)?.block ?? []);
    const made = this.#parts.turnBlocks.make(this.#request, {
      thread,
      searched,
      stable,
      held,
      earlier,
      form,
      now,
    });
    const { block, sections } = made;
    const name = this.#turn?.name;
    if (thread !== null) {
      const changes = new Set(stable.changes.map(({ place }) => keyOf(place)));
      const places = name === undefined ? [] : block.sections.flatMap((one) => one.places);
      const told = places.filter((place) => changes.has(keyOf(place)));
      this.#parts.stable.keep(thread, { stable, told, turn: name, now });
      if (name !== undefined) this.#parts.store.putTurn(thread.n, name, block, now);
    }
    return { ...made, text: textOf(sections, block) };
  }

  #keepRun(block: TurnBlock, { sections }: Stable, now: number): void {
    const { snapshot } = this.#request;
    if (snapshot === undefined) return;
    const { store, items: all } = this.#parts;
    const lasts = { now, expiresAt: now + snapshot.ttlMs };
    store.putRun(snapshot.name, { ...block, stable: placed(sections) }, lasts);
    for (const { items } of sections) all.keepEntries(NO_THREAD, items, now);
  }

  /** Keys of the messages that the prompt holds: all since so many of the user's, its history, or the thread's last ones. */
  #held(thread: StoredThread): string[] {
    const { stores } = this.#parts;
    const { messages, history = HELD } = this.#request;
    const seqs: number[] = [];
    let users = 0;
    for (const { seq, message } of lastMessages(stores, thread)) {
      if (messages === undefined ? seqs.length === history : users >= messages.length) break;
      if (message.role === "user") users++;
      seqs.push(seq);
    }
    const all = seqs.toReversed().map((seq) => ({ seq }));
    const isWindow = messages === undefined && seqs.length === history;
    return (isWindow ? steadyWindow(all) : all).map(({ seq }) =>
      String(positionOf(stores.lineage.owner(thread, seq), seq)),
    );
  }
}

export const NO_SUCH_THREAD = fail("not_found", {
  details: [{ path: "body.threadId", message: "is no thread of this user" }],
});

const sectionsOf = ({ run, turns }: KeptBlocks): PlacedSection[] => [
  ...(run === null ? [] : [...run.stable, ...run.sections]),
  ...[...turns.values()].flatMap(({ block }) => block.sections),
];

/** True if the section has memories of a shared owner that were not read. */
const isUnread = ({ layer, places }: PlacedSection, shared: SharedItems): boolean =>
  places.some((place) => "n" in place && place.owner !== undefined && !shared.has(sharedKey(layer, place)));

const answerOf = (
  { meta, confidence, abstained, recallId }: TurnBlock,
  { stable, recalled }: { stable: string; recalled: string },
  count: CountTokens,
): Answer => ({
  stable: { text: stable, tokens: tokensOf(stable, count) },
  recalled: { text: recalled, tokens: tokensOf(recalled, count) },
  sections: meta,
  tokens: tokensOf(stable, count) + tokensOf(recalled, count),
  ...(confidence !== undefined && { confidence }),
  ...(abstained && { abstained }),
  ...(recallId !== undefined && { recallId }),
});
