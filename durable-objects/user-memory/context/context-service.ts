import type { LayerName } from "../../../src/domain/context/block.ts";
import type { CountTokens, TokenizerName } from "../../../src/domain/context/tokens.ts";
import { steadyWindow } from "../../../src/domain/conversation/history-window.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { MessagePage, ReadMessage } from "../../../src/domain/page-json.ts";
import type { ContextCandidate } from "../../../src/domain/schema/context.ts";
import type {
  ContextItem,
  ContextRequest,
  LayerFound,
  MessagesQuery,
  PlacedSection,
  PromptContext,
} from "../../../src/contract/user-memory.ts";
import { isMessage, positionOf } from "../core/position.ts";
import type { ErasureEpoch } from "../core/erasure-epoch.ts";
import type { Transactions } from "../core/transactions.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { ContextItems, type ItemDependencies } from "./context-items.ts";
import { keyOf, NO_THREAD, type RunBlock, shownKeys, type TurnBlock } from "./context-store.ts";
import { fittedSections, type Form, placed, type Section, textOf, tokensOf } from "./fitted-sections.ts";
import { KeptTurns, type Turns } from "./kept-turns.ts";
import { type FoundLayer, LayerSearch, type Searched } from "./layer-search.ts";
import { HELD, lastMessages, type Turn } from "./prompted-turns.ts";
import { type OwnerObject, type SharedItems, sharedKey, SharedOwners } from "./shared-owners.ts";
import { type Stable, StableBlocks } from "./stable-blocks.ts";

type ContextDependencies = ItemDependencies & {
  recall: RecallService;
  log: Pick<RecallLog, "note">;
  transactions: Transactions;
  conversations: Pick<Conversations, "resume">;
  /** Grows with each erasure of the user. */
  erasureEpoch: Pick<ErasureEpoch, "current">;
  /** The object of a shared owner. */
  objectOf: (owner: UserHash) => OwnerObject;
  tokenCounter: (name: TokenizerName) => Promise<CountTokens>;
  now: () => number;
};

type Prompted = {
  thread: StoredThread | null;
  turn: Turn | null;
  searched: Searched;
  shared: SharedItems;
  form: Form;
  /** The number of the user's erasures before the call. */
  epoch: number;
};
/** The blocks that were made before: the snapshot, and those of turns by their names. */
type KeptBlocks = { run: RunBlock | null; turns: Turns };
/** The blocks of turns that were kept, and their texts as far as they still exist. */
type Read = { turns: Turns; texts: ReturnType<KeptTurns["texts"]> };
type MadeTurn = { block: TurnBlock; text: string; candidates: readonly ContextCandidate[] };
/** `isChanged`: the provider may have cached another prefix. */
type Changing = { answer: Answer; isChanged: boolean };
type Answer = Omit<PromptContext, "etag" | "stable"> & { stable: { text: string; tokens: number } };

/** Makes the memory of a prompt: a stable block for the thread, and a block for each turn, which is kept with it. */
export class ContextService {
  readonly #deps: ContextDependencies;
  readonly #items: ContextItems;
  readonly #stable: StableBlocks;
  readonly #search: LayerSearch;
  readonly #shared: SharedOwners;
  readonly #turns: KeptTurns;

  constructor(deps: ContextDependencies) {
    const { store, table, stores, recall, objectOf, now } = deps;
    this.#deps = deps;
    this.#shared = new SharedOwners(objectOf);
    this.#items = new ContextItems(deps);
    this.#stable = new StableBlocks({ store, table, compactions: stores.compactions, items: this.#items });
    this.#turns = new KeptTurns({ store, stores, items: this.#items, shared: this.#shared, now });
    this.#search = new LayerSearch({ recall, items: this.#items, shared: this.#shared, now });
  }

  async context(request: ContextRequest): Promise<Result<PromptContext>> {
    const { current: epoch } = this.#deps.erasureEpoch;
    const found = await this.#thread(request);
    if (!found.ok) return found;
    const { value: thread } = found;
    const turn = thread === null ? null : await this.#turns.inPrompt(thread, request);
    const kept = this.#keptBlocks(request, thread, turn);
    const isKept = kept.run !== null || (turn?.name !== undefined && kept.turns.has(turn.name));
    const [searched, shared, count] = await Promise.all([
      isKept ? { layers: [] } : this.#search.search(request),
      this.#shared.items(sectionsOf(kept)),
      this.#deps.tokenCounter(request.tokenizer).catch((error: unknown) => {
        console.error({ message: "a tokenizer is unavailable", error: String(error) });
        return null;
      }),
    ]);
    if (count === null)
      return fail("storage_unavailable", {
        details: [{ path: "body.tokenizer", message: "could not be loaded" }],
      });
    const form = { format: request.format, sources: request.sources ?? false, count };
    const made = await this.#answerOnce(request, { thread, turn, searched, shared, form, epoch });
    if (!made.ok) return made;
    const answer = await withEtags({
      ...made.value,
      ...(thread !== null && request.thread !== undefined && { threadId: thread.id }),
    });
    if (thread === null || request.history === undefined) return ok(answer);
    const { items: history, isLess } = await this.#history(thread, request.history);
    return ok({
      ...answer,
      ...(isLess && { prefixChanged: true as const }),
      history,
      isStored: turn?.isStored ?? false,
    });
  }

  async #thread({ threadId, thread: named }: ContextRequest): Promise<Result<StoredThread | null>> {
    const { stores, conversations } = this.#deps;
    let id = threadId;
    if (named !== undefined) {
      const resumed = await conversations.resume(named.owner, named.newId, { agent: named.agent });
      if (!resumed.ok) return resumed;
      ({ id } = resumed.value.thread);
    }
    if (id === undefined) return ok(null);
    const thread = stores.threads.get(id);
    return thread === null ? NO_SUCH_THREAD : ok(thread);
  }

  /** The last messages of a thread, with the blocks that they were sent with. */
  async #history(thread: StoredThread, limit: number): Promise<{ items: ReadMessage[]; isLess: boolean }> {
    const query: MessagesQuery = { order: "newest", limit, view: "compacted", wholeTurns: true };
    const page = this.#deps.stores.reader.page(thread, query);
    const { items, turns, shared } = await this.#turns.prompted(thread, page.items);
    return { items, isLess: anyLess(this.#turns.texts(turns, shared)) };
  }

  /** A page of the thread as its prompts had it: each message of the user with the block that it was sent with. */
  async prompted(id: string, query: MessagesQuery): Promise<Result<MessagePage>> {
    const { stores } = this.#deps;
    const thread = stores.threads.get(id);
    if (thread === null) return fail("not_found");
    const page = stores.reader.page(thread, query);
    const { items } = await this.#turns.prompted(thread, page.items);
    return ok({ ...page, items });
  }

  /** Searches this object alone. */
  searchLayers(request: ContextRequest): Promise<LayerFound[]> {
    return this.#search.own(request);
  }

  /** The items at places of this object. */
  contextItems(sections: readonly PlacedSection[]): (ContextItem & { layer: LayerName })[] {
    const resolved = this.#items.resolve(sections, this.#deps.now());
    return resolved.flatMap(({ layer, items }) => items.map((item) => ({ ...item, layer })));
  }

  /** The blocks that were made before: of the snapshot, of this turn and of earlier ones. */
  #keptBlocks({ snapshot }: ContextRequest, thread: StoredThread | null, turn: Turn | null): KeptBlocks {
    const { store, now } = this.#deps;
    const names = [turn?.name ?? [], turn?.earlier.map(({ name }) => name) ?? []].flat();
    return {
      run: snapshot === undefined ? null : store.run(snapshot.name, now()),
      turns: thread === null ? new Map() : this.#turns.of(thread, names),
    };
  }

  /** Makes the answer in one step: of two calls for one turn, the second finds the block that the first kept. */
  async #answerOnce(request: ContextRequest, prompted: Prompted): Promise<Result<Answer>> {
    const { thread, turn, shared, epoch } = prompted;
    const { transactions, stores, erasureEpoch } = this.#deps;
    const answer = (read: SharedItems, isLast: boolean): Result<Answer> | PlacedSection[] =>
      transactions.atomically(() => {
        if (erasureEpoch.current !== epoch) return fail("erased_meanwhile");
        if (thread !== null && stores.threads.get(thread.id) === null) return NO_SUCH_THREAD;
        const kept = this.#keptBlocks(request, thread, turn);
        const sections = sectionsOf(kept);
        // Another call has kept a block since, with memories of shared owners that this one has not read.
        if (!isLast && sections.some((one) => isUnread(one, read))) return sections;
        return ok(this.#answer(request, { ...prompted, shared: read }, kept));
      });
    const first = answer(shared, false);
    if (!Array.isArray(first)) return first;
    const second = answer(await this.#shared.items(first), true);
    if (Array.isArray(second)) throw new Error("the last answer asks for more");
    return second;
  }

  #answer(request: ContextRequest, prompted: Prompted, kept: KeptBlocks): Answer {
    const { turn, shared } = prompted;
    const { snapshot } = request;
    const texts = this.#turns.texts(kept.turns, shared);
    const made =
      kept.run !== null && snapshot !== undefined
        ? this.#ofSnapshot(kept.run, snapshot.name, prompted)
        : this.#ofTurn(request, prompted, { turns: kept.turns, texts });
    return {
      ...made.answer,
      ...(request.messages !== undefined && {
        pinned: (turn?.earlier ?? []).flatMap(({ index, name }) => {
          const text = index < 0 ? "" : (texts.get(name)?.text ?? "");
          return text === "" ? [] : [{ index, text }];
        }),
      }),
      ...(turn?.name !== undefined && { pin: turn.name }),
      ...((made.isChanged || anyLess(texts)) && { prefixChanged: true as const }),
    };
  }

  /** The answer that a snapshot kept, as far as it still exists. */
  #ofSnapshot(run: RunBlock, name: string, { thread, shared, form: { count } }: Prompted): Changing {
    if (thread !== null) this.#deps.store.use(thread.n, this.#deps.now());
    const [stable, turn] = this.#turns.reread([run.stable, run.sections], shared);
    const isLess = stable?.isLess === true || turn?.isLess === true;
    if (isLess)
      this.#deps.store.reduceRun(name, { ...run, stable: stable?.left ?? [], sections: turn?.left ?? [] });
    const answer = answerOf({
      ...run,
      count,
      stable: textOf(stable?.resolved ?? [], run),
      recalled: textOf(turn?.resolved ?? [], run),
    });
    return { answer, isChanged: isLess };
  }

  /** The answer of a turn: the stable block, and the block that the turn kept, or a new one. */
  #ofTurn(request: ContextRequest, prompted: Prompted, { turns, texts }: Read): Changing {
    const { thread, turn, form } = prompted;
    const { snapshot } = request;
    const now = this.#deps.now();
    const current = turn?.name;
    const earlier = (turn?.earlier ?? []).map(({ name }) => name);
    // A caller that sends no hashes may hold more than the last turns.
    const isKnown = request.messages !== undefined || request.history !== undefined;
    const held = new Set(thread === null ? [] : this.#held(thread, request));
    const stable = this.#stable.current(request, {
      thread,
      turns: isKnown ? new Set([current ?? [], earlier].flat()) : undefined,
      held,
      form,
      now,
    });
    const kept = current === undefined ? undefined : turns.get(current);
    const made =
      kept === undefined
        ? this.#newTurn(request, prompted, {
            stable,
            held,
            earlier: earlier.flatMap((name) => turns.get(name)?.block ?? []),
            now,
          })
        : this.#keptTurn(kept.block, prompted, { stable, text: texts.get(current ?? "")?.text ?? "", now });
    const meta = [...stable.meta, ...made.block.meta];
    if (snapshot !== undefined) this.#keepRun(snapshot, { ...made.block, meta }, { stable, now });
    const answer = {
      ...answerOf({
        ...made.block,
        meta,
        count: form.count,
        stable: stable.text,
        recalled: made.text,
      }),
      ...(request.explain && { candidates: [...stable.candidates, ...made.candidates] }),
    };
    return { answer, isChanged: stable.isRenewed };
  }

  /** The block that the turn kept. */
  #keptTurn(
    block: TurnBlock,
    { thread, turn }: Prompted,
    { stable, text, now }: { stable: Stable; text: string; now: number },
  ): MadeTurn {
    if (thread !== null) this.#stable.keep(thread, { stable, told: [], turn: turn?.name, now });
    return { block, text, candidates: [] };
  }

  /** A new block of the turn, which tells what has changed of the stable one, and is kept if the turn has a name. */
  #newTurn(
    request: ContextRequest,
    { thread, turn, searched, form }: Prompted,
    {
      stable,
      held,
      earlier,
      now,
    }: { stable: Stable; held: ReadonlySet<string>; earlier: readonly TurnBlock[]; now: number },
  ): MadeTurn {
    const { block, sections, candidates } = this.#turnBlock(request, {
      thread,
      searched,
      stable,
      held,
      earlier,
      form,
      now,
    });
    const name = turn?.name;
    if (thread !== null) {
      const changes = new Set(stable.changes.map(({ place }) => keyOf(place)));
      const places = name === undefined ? [] : block.sections.flatMap((one) => one.places);
      const told = places.filter((place) => changes.has(keyOf(place)));
      this.#stable.keep(thread, { stable, told, turn: name, now });
      if (name !== undefined) this.#deps.store.putTurn(thread.n, name, block, now);
    }
    return { block, text: textOf(sections, block), candidates };
  }

  #keepRun(
    { name, ttlMs }: NonNullable<ContextRequest["snapshot"]>,
    block: TurnBlock,
    { stable: { sections }, now }: { stable: Stable; now: number },
  ): void {
    this.#deps.store.putRun(name, { ...block, stable: placed(sections) }, { now, expiresAt: now + ttlMs });
    for (const { items } of sections) this.#items.keepEntries(NO_THREAD, items, now);
  }

  #turnBlock(
    request: ContextRequest,
    {
      thread,
      searched,
      stable,
      held,
      earlier,
      form,
      now,
    }: {
      thread: StoredThread | null;
      searched: Searched;
      stable: Stable;
      held: ReadonlySet<string>;
      earlier: readonly TurnBlock[];
      form: Form;
      now: number;
    },
  ): { block: TurnBlock; sections: readonly Section[]; candidates: readonly ContextCandidate[] } {
    const { layers, scope, format, sources, budget } = request;
    const shown = new Set([
      ...stable.sections.flatMap(({ items }) => items.flatMap(({ place }) => shownKeys(place))),
      ...earlier.flatMap(({ sections }) => sections.flatMap(({ places }) => places.flatMap(shownKeys))),
      ...held,
    ]);
    const ofTurn = layers.filter(({ stable: isStable, layer }) => !isStable && layer.type !== "history");
    const ofSearch = this.#search.found(searched);
    const found = Array.from(this.#items.ofLayers(ofTurn, { now, scope, thread }), ([layer, recent]) => {
      const { items, ...search } = ofSearch.get(layer) ?? { items: [], ms: 0, status: "ok" as const };
      return { ...search, layer, name: layer.layer.type, items: [...recent, ...items] };
    });
    // The prompt holds what was made of its own messages.
    const said = new Set(request.messages);
    for (const { place, message } of found.flatMap(({ items }) => items))
      if (message !== undefined && said.has(message)) shown.add(keyOf(place));
    const { sections, meta, candidates } = fittedSections(
      [...toldChanges(stable.changes, budget), ...found],
      {
        budget: budget - tokensOf(stable.text, form.count),
        form,
        block: "recalled",
        shown,
      },
    );
    if (thread !== null || request.snapshot !== undefined)
      for (const { items } of sections) this.#items.keepEntries(thread?.n ?? NO_THREAD, items, now);
    const { confidence, abstained } = searched;
    // Counts nothing of shared owners: their memories are in other objects.
    const own = [...stable.sections, ...sections].flatMap(({ items }) =>
      items.flatMap(({ id, place }) =>
        "n" in place && place.owner === undefined && !isMessage(place.n) ? [{ id, version: place.n }] : [],
      ),
    );
    const query = request.query?.text;
    const recallId =
      query === undefined || request.isUncounted === true
        ? undefined
        : this.#deps.log.note(request.owner, { memories: own, injected: true, query });
    return {
      block: {
        ...(recallId !== undefined && { recallId }),
        format,
        ...(sources && { sources }),
        sections: placed(sections),
        meta,
        ...(confidence !== undefined && { confidence }),
        ...(abstained && { abstained }),
      },
      sections,
      candidates,
    };
  }

  /** Keys of the messages that the prompt holds: all since so many of the user's, its history, or the thread's last ones. */
  #held(thread: StoredThread, { messages, history = HELD }: ContextRequest): string[] {
    const { stores } = this.#deps;
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

const isInstruction = ({ place }: ContextItem): boolean => "n" in place && place.standing !== undefined;

/** Changes of the stable block as layers of the turn's: what is told under `changes` is no instruction. */
function toldChanges(changes: readonly ContextItem[], budget: number): (FoundLayer & { name: LayerName })[] {
  const layer = { layer: { type: "facts" as const }, slot: 0, min: 0, max: budget, stable: false };
  return [
    { name: "instructions" as const, items: changes.filter(isInstruction) },
    { name: "changes" as const, items: changes.filter((item) => !isInstruction(item)) },
  ]
    .filter(({ items }) => items.length > 0)
    .map((one) => ({ ...one, layer, ms: 0, status: "ok" as const }));
}

const NO_SUCH_THREAD = fail("not_found", {
  details: [{ path: "body.threadId", message: "is no thread of this user" }],
});

/** True if something that a turn showed is gone. */
const anyLess = (texts: ReadonlyMap<string, { isLess: boolean }>): boolean =>
  [...texts.values()].some(({ isLess }) => isLess);

const sectionsOf = ({ run, turns }: KeptBlocks): PlacedSection[] => [
  ...(run === null ? [] : [...run.stable, ...run.sections]),
  ...[...turns.values()].flatMap(({ block }) => block.sections),
];

/** True if the section has memories of a shared owner that were not read. */
const isUnread = ({ layer, places }: PlacedSection, shared: SharedItems): boolean =>
  places.some((place) => "n" in place && place.owner !== undefined && !shared.has(sharedKey(layer, place)));

const answerOf = ({
  stable,
  recalled,
  meta,
  confidence,
  abstained,
  recallId,
  count,
}: Omit<TurnBlock, "sections"> & { stable: string; recalled: string; count: CountTokens }): Answer => ({
  stable: { text: stable, tokens: tokensOf(stable, count) },
  recalled: { text: recalled, tokens: tokensOf(recalled, count) },
  sections: meta,
  tokens: tokensOf(stable, count) + tokensOf(recalled, count),
  ...(confidence !== undefined && { confidence }),
  ...(abstained && { abstained }),
  ...(recallId !== undefined && { recallId }),
});

async function withEtags({ stable, ...answer }: Answer): Promise<PromptContext> {
  const [stableTag, etag] = await Promise.all([
    hash16(stable.text),
    hash16(JSON.stringify([stable.text, answer.recalled.text, answer.pinned ?? [], answer.threadId])),
  ]);
  return { ...answer, stable: { ...stable, etag: stableTag }, etag };
}
