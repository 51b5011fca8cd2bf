import type { ContextItem } from "../../../src/domain/context/item.ts";
import type { LayerName } from "../../../src/domain/context/layers/rules.ts";
import type { ContextCandidate } from "../../../src/domain/schema/context.ts";
import type { ContextRequest } from "../../../src/contract/user-memory.ts";
import { isMessage } from "../core/position.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { ContextItems } from "./context-items.ts";
import { keyOf, NO_THREAD, shownKeys, type TurnBlock } from "./context-store.ts";
import { type Form, fittedSections, placed, type Section, tokensOf } from "./fitted-sections.ts";
import type { LayerChoices } from "./layer-choices.ts";
import type { FoundLayer, LayerSearch, Searched } from "./layer-search.ts";
import type { Stable } from "./stable-blocks.ts";

type TurnBlockDependencies = {
  items: ContextItems;
  choices: LayerChoices;
  search: LayerSearch;
  log: Pick<RecallLog, "note">;
};
type TurnRequest = Pick<
  ContextRequest,
  "owner" | "layers" | "scope" | "budget" | "query" | "messages" | "snapshot" | "isUncounted"
>;
/** The prompt that a turn's block is for. */
export type TurnPrompt = {
  thread: StoredThread | null;
  searched: Searched;
  stable: Stable;
  /** Keys of the messages that the prompt holds. */
  held: ReadonlySet<string>;
  /** The blocks of its earlier turns. */
  earlier: readonly TurnBlock[];
  form: Form;
  now: number;
};
export type NewTurn = {
  block: TurnBlock;
  sections: readonly Section[];
  candidates: readonly ContextCandidate[];
};

/** Makes the block of a turn: the changes of the stable block, the layers as they are now, and what their searches found. */
export class TurnBlocks {
  readonly #deps: TurnBlockDependencies;

  constructor(deps: TurnBlockDependencies) {
    this.#deps = deps;
  }

  make(request: TurnRequest, prompt: TurnPrompt): NewTurn {
    const { thread, searched, stable, form, now } = prompt;
    const found = this.#found(request, prompt);
    const { sections, meta, candidates } = fittedSections(
      [...toldChanges(stable.changes, request.budget), ...found],
      {
        budget: request.budget - tokensOf(stable.text, form.count),
        form,
        block: "recalled",
        shown: shownBefore(request, prompt, found),
      },
    );
    if (thread !== null || request.snapshot !== undefined)
      for (const { items } of sections) this.#deps.items.keepEntries(thread?.n ?? NO_THREAD, items, now);
    const { confidence, abstained } = searched;
    const recallId = this.#noted(request, [...stable.sections, ...sections]);
    const { format, sources } = form;
    return {
      block: {
        ...(recallId !== undefined && { recallId }),
        format,
        ...(sources === true && { sources }),
        sections: placed(sections),
        meta,
        ...(confidence !== undefined && { confidence }),
        ...(abstained && { abstained }),
      },
      sections,
      candidates,
    };
  }

  /** The items of each layer of the turn, those of its search last. */
  #found(
    { layers, scope }: TurnRequest,
    { thread, searched, now }: TurnPrompt,
  ): (FoundLayer & { name: LayerName })[] {
    const ofSearch = this.#deps.search.found(searched);
    const chosen = this.#deps.choices.of(
      layers.filter(({ stable }) => !stable),
      { now, scope, thread },
    );
    return Array.from(chosen, ([layer, recent]) => {
      const { items, ...search } = ofSearch.get(layer) ?? { items: [], ms: 0, status: "ok" as const };
      return { ...search, layer, name: layer.layer.type, items: [...recent, ...items] };
    });
  }

  /** Counts the memories that the prompt shows. Nothing of shared owners: their memories are in other objects. */
  #noted(
    { owner, query, isUncounted = false }: TurnRequest,
    sections: readonly Section[],
  ): string | undefined {
    if (query === undefined || isUncounted) return undefined;
    const memories = sections.flatMap(({ items }) =>
      items.flatMap(({ id, place }) =>
        "n" in place && place.owner === undefined && !isMessage(place.n) ? [{ id, version: place.n }] : [],
      ),
    );
    return this.#deps.log.note(owner, { memories, injected: true, query: query.text });
  }
}

/** Keys of what the prompt shows already: in its other blocks, in its messages, and what was made of these. */
function shownBefore(
  { messages }: TurnRequest,
  { stable, earlier, held }: TurnPrompt,
  found: readonly FoundLayer[],
): ReadonlySet<string> {
  const ofPrompt = new Set(messages);
  return new Set([
    ...stable.sections.flatMap(({ items }) => items.flatMap(({ place }) => shownKeys(place))),
    ...earlier.flatMap(({ sections }) => sections.flatMap(({ places }) => places.flatMap(shownKeys))),
    ...held,
    ...found.flatMap(({ items }) =>
      items.flatMap(({ place, message }) =>
        message !== undefined && ofPrompt.has(message) ? [keyOf(place)] : [],
      ),
    ),
  ]);
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
