import type { ContextItem } from "../../../src/domain/context/item.ts";
import type { ContextCandidate } from "../../../src/domain/schema/context.ts";
import type { ContextRequest } from "../../../src/contract/user-memory.ts";
import { isMessage } from "../core/position.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { ContextItems } from "./context-items.ts";
import { keyOf, NO_THREAD, shownKeys, type TurnBlock } from "./context-store.ts";
import {
  type FoundLayer,
  fittedSections,
  layerOf,
  placed,
  type Section,
  textOf,
  tokensOf,
} from "./fitted-sections.ts";
import type { LayerChoices } from "./layer-choices.ts";
import type { LayerSearch, Searched } from "./layer-search.ts";
import type { BlockPrompt, Stable } from "./stable-blocks.ts";

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
/** The prompt that a turn's block is for. `earlier`: the blocks of its earlier turns. */
type TurnPrompt = BlockPrompt & { searched: Searched; stable: Stable; earlier: readonly TurnBlock[] };
/** A turn's block with its text. */
export type TurnText = { block: TurnBlock; text: string; candidates: readonly ContextCandidate[] };

/** Makes the block of a turn: the changes of the stable block, the layers as they are now, and what their searches found. */
export class TurnBlocks {
  readonly #deps: TurnBlockDependencies;

  constructor(deps: TurnBlockDependencies) {
    this.#deps = deps;
  }

  make(request: TurnRequest, prompt: TurnPrompt): TurnText {
    const { thread, searched, stable, form, now } = prompt;
    const { format, sources } = form;
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
      this.#deps.items.copyEntries(thread?.n ?? NO_THREAD, sections, now);
    const { confidence, abstained } = searched;
    const recallId = this.#noted(request, [...stable.sections, ...sections]);
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
      text: textOf(sections, form),
      candidates,
    };
  }

  /** The items of each layer of the turn, those of its search last. */
  #found({ layers, scope }: TurnRequest, { thread, searched, now }: TurnPrompt): FoundLayer[] {
    const ofSearch = this.#deps.search.found(searched);
    const chosen = this.#deps.choices.of(
      layers.filter(({ stable }) => !stable),
      { now, scope, thread },
    );
    return Array.from(chosen, ([layer, recent]) => {
      const found = ofSearch.get(layer) ?? layerOf(layer, []);
      return { ...found, items: [...recent, ...found.items] };
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
  { messages: hashes }: TurnRequest,
  { stable, earlier, messages }: TurnPrompt,
  found: readonly FoundLayer[],
): ReadonlySet<string> {
  const ofPrompt = new Set(hashes);
  const blocks = [...placed(stable.sections), ...earlier.flatMap(({ sections }) => sections)];
  const items = found.flatMap((one) => one.items);
  return new Set([
    ...blocks.flatMap(({ places }) => places.flatMap(shownKeys)),
    ...messages,
    ...items
      .filter(({ message }) => message !== undefined && ofPrompt.has(message))
      .map(({ place }) => keyOf(place)),
  ]);
}

const isInstruction = ({ place }: ContextItem): boolean => "n" in place && place.standing !== undefined;

/** Changes of the stable block as layers of the turn's: what is told under `changes` is no instruction. */
function toldChanges(changes: readonly ContextItem[], budget: number): FoundLayer[] {
  const layer = { layer: { type: "facts" as const }, slot: 0, min: 0, max: budget, stable: false };
  return [
    layerOf(layer, changes.filter(isInstruction), "instructions"),
    layerOf(
      layer,
      changes.filter((item) => !isInstruction(item)),
      "changes",
    ),
  ].filter(({ items }) => items.length > 0);
}
