import type { ContextItem, ContextRequest, Place } from "../../../src/contract/user-memory.ts";
import { blockFrame, sectionFrame } from "../../../src/domain/context/block.ts";
import { wordsOf } from "../../../src/domain/context/replaced-standing.ts";
import { isMessage } from "../core/position.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { CompactionStore } from "../threads/compaction-store.ts";
import type { StoredThread } from "../threads/thread-store.ts";
import type { ContextItems } from "./context-items.ts";
import { type ContextStore, keyOf, type StableBlock } from "./context-store.ts";
import {
  candidateOf,
  type Fitted,
  type Form,
  fittedSections,
  placed,
  type Section,
  sectionTokens,
  textOf,
  weightOf,
} from "./fitted-sections.ts";

type StableDependencies = {
  store: ContextStore;
  table: MemoryTable;
  compactions: CompactionStore;
  items: ContextItems;
};

/** The stable block for a prompt. */
export type Stable = {
  block: StableBlock;
  sections: readonly Section[];
  meta: Fitted["meta"];
  candidates: Fitted["candidates"];
  text: string;
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

  current(
    request: ContextRequest,
    {
      thread,
      turns,
      held,
      form,
      now,
    }: {
      thread: StoredThread | null;
      turns: ReadonlySet<string> | undefined;
      /** Keys of the messages that the prompt holds. */
      held: ReadonlySet<string>;
      form: Form;
      now: number;
    },
  ): Stable {
    const { store, compactions, items } = this.#deps;
    const { recipe, budget, cacheTtlMs } = request;
    const fresh = this.#fresh(request, { thread, form, now });
    const text = textOf(fresh.sections, form);
    const renewed = (isRenewed: boolean): Stable => ({
      ...fresh,
      text,
      block: {
        recipe,
        look: { format: form.format, sources: form.sources ?? false },
        sections: placed(fresh.sections),
        told: [],
        toldBy: [],
        madeAt: now,
        lastVersion: this.#deps.table.lastVersion(),
      },
      changes: [],
      isNew: true,
      isRenewed,
    });
    const stored = thread === null ? null : store.stable(thread.n);
    if (stored === null || thread === null) return renewed(false);
    const { block, usedAt } = stored;
    const sections = items.resolve(block.sections, now);
    const storedText = textOf(sections, block.look);
    const isLost = sections.some(({ lost }) => lost > 0);
    const isCompacted = compactions.lastCreatedAt(thread) > block.madeAt;
    const isOver = form.count(storedText) > budget;
    // Without the turn that corrected it, the block would tell an outdated text. The prompt has another beginning anyway.
    const isUntold = turns !== undefined && block.toldBy.some((turn) => !turns.has(turn));
    if (isLost || isCompacted || isOver || isUntold || block.recipe !== recipe)
      return renewed(isLost || text !== storedText);
    const told = items.itemsAt({ layer: "changes", places: block.told }, now);
    const changes = this.#changes(block, {
      known: [...sections.flatMap((one) => one.items), ...told],
      wanted: fresh.sections.flatMap((one) => one.items),
      held,
      now,
    });
    // Each step of a run uses the cache, and may be appended to the thread.
    const isIdle = now - Math.max(usedAt, thread.updatedAt) > cacheTtlMs;
    const most = Math.max(MOST_CHANGES.tokens, MOST_CHANGES.share * form.count(storedText));
    const isTooMuch = weightOf([...told, ...changes], form) > most;
    const around = form.count(sectionFrame("changes", form.format)) + form.count(blockFrame(form.format));
    const hasRoom = weightOf(changes, form) + around <= budget - form.count(storedText);
    if (text !== storedText && (isIdle || isTooMuch || (changes.length > 0 && !hasRoom)))
      return renewed(!isIdle);
    const meta = fresh.meta.map((one) => {
      const section = sections.find(({ layer }) => layer === one.layer) ?? { layer: one.layer, items: [] };
      return { ...one, items: section.items.length, tokens: sectionTokens(section, form) };
    });
    const candidates = sections.flatMap(({ layer, items: shown }) =>
      shown.map((item) => candidateOf(layer, item, "fits")),
    );
    return { meta, candidates, block, sections, text: storedText, changes, isNew: false, isRenewed: false };
  }

  /** Stores a new block, what the turn has told of its changes, and that the thread was used. */
  keep(
    thread: StoredThread,
    {
      stable,
      told,
      turn,
      now,
    }: { stable: Stable; told: readonly Place[]; turn: string | undefined; now: number },
  ): void {
    const { store, items } = this.#deps;
    if (stable.isNew)
      items.keepEntries(
        thread.n,
        stable.sections.flatMap((one) => one.items),
        now,
      );
    if (!stable.isNew && told.length === 0) store.use(thread.n, now);
    else {
      const { block } = stable;
      const toldBy = turn === undefined || told.length === 0 ? block.toldBy : [...block.toldBy, turn];
      store.putStable(thread.n, { ...block, told: [...block.told, ...told], toldBy }, now);
    }
  }

  #fresh(
    request: ContextRequest,
    { thread, form, now }: { thread: StoredThread | null; form: Form; now: number },
  ): Fitted {
    const { layers, scope, budget } = request;
    const reserved = layers.reduce(
      (sum, { stable, layer, min }) => sum + (stable || layer.type === "history" ? 0 : min),
      0,
    );
    const chosen = this.#deps.items.ofLayers(
      layers.filter(({ stable }) => stable),
      { now, scope, thread },
    );
    const found = Array.from(chosen, ([layer, items]) => ({
      layer,
      name: layer.layer.type,
      items,
      ms: 0,
      status: "ok" as const,
    }));
    return fittedSections(found, { budget: budget - reserved, form, block: "stable", shown: new Set() });
  }

  /** `known`: what the block and the turns since have shown; `wanted`: what a new block would show. */
  #changes(
    { lastVersion, madeAt }: StableBlock,
    {
      known,
      wanted,
      held,
      now,
    }: {
      known: readonly ContextItem[];
      wanted: readonly ContextItem[];
      held: ReadonlySet<string>;
      now: number;
    },
  ): ContextItem[] {
    const keys = new Set(known.map(({ place }) => keyOf(place)));
    const latest = new Map(known.map(({ id, place }) => [id, place]));
    const ids = new Set(wanted.map(({ id }) => id));
    const words = new Set(known.flatMap(({ said }) => (said === undefined ? [] : [wordsOf(said)])));
    const changed = wanted.flatMap((item): ContextItem[] => {
      const { id, place } = item;
      if (keys.has(keyOf(place))) return [];
      if (!("n" in place)) return "key" in place ? [item] : [];
      // An instruction. One of this thread is told once it has left the prompt.
      if (isMessage(place.n)) {
        const isKnown = item.isSaidAgain === true && words.has(wordsOf(item.said ?? ""));
        return held.has(String(place.n)) || (item.saidAt ?? 0) < madeAt || isKnown ? [] : [item];
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
    const ended = this.#deps.table
      .ended(gone, now)
      .map((n): Place => ({ n, was: n }))
      .filter((place) => !keys.has(keyOf(place)))
      .flatMap((place) => this.#itemAt(place, now));
    return [...changed, ...ended];
  }

  #itemAt(place: Place, now: number): ContextItem[] {
    return this.#deps.items.itemsAt({ layer: "changes", places: [place] }, now);
  }
}
