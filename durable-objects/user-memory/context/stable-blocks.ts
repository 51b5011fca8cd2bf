import type { ContextRequest } from "../../../src/contract/user-memory.ts";
import { blockFrame, sectionFrame } from "../../../src/domain/context/block.ts";
import type { ContextItem, Place } from "../../../src/domain/context/item.ts";
import { wordsOf } from "../../../src/domain/context/latest-instructions.ts";
import { isMessage } from "../core/position.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { CompactionStore } from "../threads/compaction-store.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { BlockNow, ContextItems } from "./context-items.ts";
import { type ContextStore, keyOf, type StableBlock } from "./context-store.ts";
import type { LayerChoices } from "./layer-choices.ts";
import {
  candidateOf,
  type Fitted,
  type Form,
  fittedSections,
  layerOf,
  placed,
  sectionTokens,
  textOf,
  weightOf,
} from "./fitted-sections.ts";

type StableDependencies = {
  store: ContextStore;
  table: MemoryTable;
  memorySource: Pick<MemoryDocuments, "ended">;
  compactions: CompactionStore;
  items: ContextItems;
  choices: LayerChoices;
};

type StableRequest = Pick<ContextRequest, "layers" | "scope" | "recipe" | "budget" | "cacheTtlMs">;
/** The prompt that a block is for. */
export type BlockPrompt = {
  thread: StoredThread | null;
  /** The turns that the prompt holds; undefined if it may hold others. */
  turns: ReadonlySet<string> | undefined;
  /** Keys of the messages that the prompt holds. */
  messages: ReadonlySet<string>;
  form: Form;
  now: number;
};
/** A block as it would be made now. */
type Fresh = Fitted & { text: string };
/** The thread's block. */
type Stored = Pick<BlockNow, "sections" | "text" | "isReduced"> & { block: StableBlock; usedAt: number };

/** The stable block for a prompt. */
export type Stable = Fresh & {
  block: StableBlock;
  /** Changes since the block was made that no turn has told yet. */
  changes: ContextItem[];
  isNew: boolean;
  /** True if it takes the place of another one, which a provider may have cached. */
  isRenewed: boolean;
};

/** The stable block is renewed once the changes since then exceed this share of it, and this number of tokens. */
const MOST_CHANGES = { share: 0.25, tokens: 200 };

/**
 * Keeps the stable block of a thread as it is, since a provider has cached the prompt up to it: later changes are told by the
 * turns. It is made anew if something in it is gone, the thread was compacted, it exceeds the budget, the request is another one
 * or a turn that told a change has left the prompt; and, if anything changed, once the provider's cache has lapsed or the
 * changes weigh too much or have no room.
 */
export class StableBlocks {
  readonly #deps: StableDependencies;

  constructor(deps: StableDependencies) {
    this.#deps = deps;
  }

  current(request: StableRequest, prompt: BlockPrompt): Stable {
    const { thread, form, now } = prompt;
    const fresh = this.#fresh(request, prompt);
    const stored = thread === null ? null : this.#stored(thread, now);
    if (stored === null || thread === null) return this.#renewed(fresh, request, prompt, false);
    const { block, sections, text, isReduced } = stored;
    const isOther = fresh.text !== text;
    if (isReduced || this.#isOutdated(stored, thread, request, prompt))
      return this.#renewed(fresh, request, prompt, isReduced || isOther);
    const former = this.#deps.items.itemsAt("changes", block.told, now);
    const known = [...sections.flatMap((one) => one.items), ...former];
    const wanted = fresh.sections.flatMap((one) => one.items);
    const changes = this.#changes(block, { known, wanted }, prompt);
    // Each step of a run uses the cache, and may be appended to the thread.
    const isIdle = now - Math.max(stored.usedAt, thread.updatedAt) > request.cacheTtlMs;
    const isFull = () => isTooMuch(text, { former, changes, form, budget: request.budget });
    if (isOther && (isIdle || isFull())) return this.#renewed(fresh, request, prompt, !isIdle);
    const meta = fresh.meta.map((one) => {
      const section = sections.find(({ layer }) => layer === one.layer) ?? { layer: one.layer, items: [] };
      return { ...one, items: section.items.length, tokens: sectionTokens(section, form) };
    });
    const candidates = sections.flatMap(({ layer, items: shown }) =>
      shown.map((item) => candidateOf(layer, item, "fits")),
    );
    return { meta, candidates, block, sections, text, changes, isNew: false, isRenewed: false };
  }

  #stored(thread: StoredThread, now: number): Stored | null {
    const stored = this.#deps.store.stable(thread.n);
    if (stored === null) return null;
    const { look, sections } = stored.block;
    const block = this.#deps.items.blocks(new Map([["stable", { ...look, sections }]]), now).get("stable");
    return block === undefined ? null : { ...stored, ...block };
  }

  #renewed(fresh: Fresh, { recipe }: StableRequest, { form, now }: BlockPrompt, isRenewed: boolean): Stable {
    return {
      ...fresh,
      block: {
        recipe,
        look: { format: form.format, sources: form.sources ?? false },
        sections: placed(fresh.sections),
        told: [],
        toldBy: [],
        madeAt: now,
        lastVersion: this.#deps.table.clock.lastVersion(),
      },
      changes: [],
      isNew: true,
      isRenewed,
    };
  }

  /** True if the block is of another request or of a longer thread, or tells what nothing corrects any more. */
  #isOutdated(
    { block, text }: Stored,
    thread: StoredThread,
    { recipe, budget }: StableRequest,
    { turns, form }: BlockPrompt,
  ): boolean {
    const isCompacted = this.#deps.compactions.lastCreatedAt(thread) > block.madeAt;
    const isOver = form.count(text) > budget;
    // Without the turn that corrected it, the block would tell an outdated text. The prompt has another beginning anyway.
    const isUntold = turns !== undefined && block.toldBy.some((turn) => !turns.has(turn));
    return isCompacted || isOver || isUntold || block.recipe !== recipe;
  }

  /** Stores a new block, what the turn has told of its changes, and that the thread was used. */
  put(
    thread: StoredThread,
    { sections, block, isNew }: Stable,
    { news, turn, now }: { news: readonly Place[]; turn: string | undefined; now: number },
  ): void {
    const { store, items } = this.#deps;
    if (isNew) items.copyEntries(thread.n, sections, now);
    if (!isNew && news.length === 0) return store.use(thread.n, now);
    const toldBy = turn === undefined || news.length === 0 ? block.toldBy : [...block.toldBy, turn];
    store.putStable(thread.n, { ...block, told: [...block.told, ...news], toldBy }, now);
  }

  #fresh({ layers, scope, budget }: StableRequest, { thread, form, now }: BlockPrompt): Fresh {
    const reserved = layers.reduce((sum, { stable, min }) => sum + (stable ? 0 : min), 0);
    const chosen = this.#deps.choices.of(
      layers.filter(({ stable }) => stable),
      { now, scope, thread },
    );
    const found = Array.from(chosen, ([layer, items]) => layerOf(layer, items));
    const fitting = { budget: budget - reserved, form, block: "stable" as const, shown: new Set<string>() };
    const fresh = fittedSections(found, fitting);
    return { ...fresh, text: textOf(fresh.sections, form) };
  }

  /** `known`: what the block and the turns since have shown; `wanted`: what a new block would show. */
  #changes(
    { lastVersion, madeAt }: StableBlock,
    { known, wanted }: Record<"known" | "wanted", readonly ContextItem[]>,
    { messages, now }: BlockPrompt,
  ): ContextItem[] {
    const keys = new Set(known.map(({ place }) => keyOf(place)));
    const latest = new Map(known.map(({ id, place }) => [id, place]));
    const ids = new Set(wanted.map(({ id }) => id));
    const words = new Set(
      known.flatMap(({ instruction }) => (instruction ? [wordsOf(instruction.text)] : [])),
    );
    const changed = wanted.flatMap((item): ContextItem[] => {
      const { id, place, instruction } = item;
      if (keys.has(keyOf(place))) return [];
      if (!("n" in place)) return "key" in place ? [item] : [];
      // An instruction. One of this thread is told once it has left the prompt.
      if (isMessage(place.n)) {
        if (!instruction || instruction.at < madeAt || messages.has(String(place.n))) return [];
        return instruction.isRepeated && words.has(wordsOf(instruction.text)) ? [] : [item];
      }
      const former = latest.get(id);
      if (former !== undefined && "n" in former) {
        // A change of tags or metadata leaves the text as it is.
        const [before, after] = [former.n, place.n].map((n) => this.#itemAt({ n }, now)[0]?.shown.text);
        return before === after ? [] : this.#itemAt({ n: place.n, was: former.n }, now);
      }
      // An older one has only come to be among the best.
      return place.n > lastVersion ? this.#itemAt({ n: place.n }, now) : [];
    });
    const gone = known.flatMap(({ id, place }) =>
      "n" in place && !isMessage(place.n) && !ids.has(id) ? [place.n] : [],
    );
    const ended = this.#deps.memorySource
      .ended(gone, now)
      .map((n): Place => ({ n, was: n }))
      .filter((place) => !keys.has(keyOf(place)))
      .flatMap((place) => this.#itemAt(place, now));
    return [...changed, ...ended];
  }

  #itemAt(place: Place, now: number): ContextItem[] {
    return this.#deps.items.itemsAt("changes", [place], now);
  }
}

/** True if the changes since the block was made, with the former ones, weigh too much, or have no room. */
function isTooMuch(
  text: string,
  {
    former,
    changes,
    form,
    budget,
  }: { former: readonly ContextItem[]; changes: readonly ContextItem[]; form: Form; budget: number },
): boolean {
  const tokens = form.count(text);
  const most = Math.max(MOST_CHANGES.tokens, MOST_CHANGES.share * tokens);
  if (weightOf([...former, ...changes], form) > most) return true;
  const around = form.count(sectionFrame("changes", form.format)) + form.count(blockFrame(form.format));
  return changes.length > 0 && weightOf(changes, form) + around > budget - tokens;
}
