import { and, eq } from "drizzle-orm";
import type { ContextItem } from "../../../src/domain/context/item.ts";
import type { LayerSource } from "../../../src/domain/context/layers/layer.ts";
import { PINNED } from "../../../src/domain/context/layers/order.ts";
import { memoryItem, rulesOf } from "../../../src/domain/context/layers/rules.ts";
import type { PlannedLayer } from "../../../src/domain/context/plan.ts";
import { memories, type MemoryRow } from "../../../src/domain/memory/table.ts";
import type { MemoryFilter } from "../../../src/domain/schema/memory-filter.ts";
import type { MemoryKind } from "../../../src/domain/schema/memory-fields.ts";
import { filterConditions, visibleAt } from "../../../src/platform/d1/memory-filter.ts";
import type { EntryStore } from "../../storage/entry-store.ts";
import { toSqlCondition } from "../core/sql-condition.ts";
import type { MemoryDocuments } from "../memories/memory-documents.ts";
import type { MemoryTable } from "../memories/memory-table.ts";
import type { CompactionStore } from "../threads/compaction-store.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import { entryItem, summaryItem } from "./context-items.ts";
import type { InstructionMessages } from "./instruction-messages.ts";

/** Versions that a layer chooses from: pinned ones, and so many of the important and of the newest. */
const CONSIDERED = 64;
const PINNED_MOST = 200;

type ChoiceDependencies = {
  table: Pick<MemoryTable, "numbered">;
  memorySource: MemoryDocuments;
  entries: EntryStore;
  compactions: CompactionStore;
  instructions: InstructionMessages;
};
/** The time, scope and thread that layers are chosen for. */
type ChoiceScope = { now: number; scope: string | undefined; thread: StoredThread | null };

/** Reads the data that layers choose from. */
export class LayerChoices {
  readonly #deps: ChoiceDependencies;

  constructor(deps: ChoiceDependencies) {
    this.#deps = deps;
  }

  /** The items of each layer, the best first; of one that searches, those besides. */
  of(layers: readonly PlannedLayer[], about: ChoiceScope): Map<PlannedLayer, ContextItem[]> {
    const source = this.#source(about);
    return new Map(
      layers.map((planned) => {
        const { layer } = planned;
        const chosen = rulesOf(layer).choose?.(layer, source) ?? [];
        return [
          planned,
          chosen.map((one) => {
            if (!("row" in one)) return one;
            const { row, ...more } = one;
            return memoryItem(layer.type, row, { n: row.version, ...more });
          }),
        ];
      }),
    );
  }

  #source({ now, scope, thread }: ChoiceScope): LayerSource {
    const { memorySource, entries, compactions, instructions } = this.#deps;
    // Two layers with the same kind and tags share one read.
    const read = new Map<string, MemoryRow[]>();
    return {
      scope,
      memories: (kind, tags = []) => {
        const key = JSON.stringify([kind, tags]);
        const known = read.get(key) ?? this.#rows(kind, [...tags], { now, scope });
        read.set(key, known);
        return known;
      },
      successors: (versions) => new Set(memorySource.supersededBy(versions).keys()),
      instructions: () => instructions.holding(),
      entries: ({ prefix, keys, n }) => {
        const found =
          prefix === undefined
            ? [...new Set(keys)].flatMap((key) => entries.get(key, now) ?? [])
            : entries.list({ prefix, limit: n, values: true }, now).entries;
        return found
          .slice(0, n)
          .flatMap(({ key, version, value }) =>
            value === undefined ? [] : [entryItem({ key, version }, value)],
          );
      },
      summaries: () =>
        thread === null
          ? []
          : compactions
              .shown(thread)
              .toReversed()
              .map(({ id }) => summaryItem(compactions, thread, id)),
    };
  }

  #rows(kind: MemoryKind, tags: string[], { now, scope }: Omit<ChoiceScope, "thread">): MemoryRow[] {
    const { table, memorySource } = this.#deps;
    const filter: MemoryFilter = {
      ...(tags.length > 0 && { tags }),
      ...(scope !== undefined && { scope: [scope] }),
    };
    const condition = (more: MemoryFilter = {}) =>
      toSqlCondition(
        and(visibleAt({ now }), eq(memories.status, "active"), ...filterConditions({ ...filter, ...more })),
      );
    const pinned = { kinds: [kind], tags: [...tags, PINNED] };
    const versions = [
      ...(memorySource.few({ tags: pinned.tags }, condition(pinned), PINNED_MOST) ?? []),
      ...(memorySource.few({ ...filter, kinds: [kind] }, condition({ kinds: [kind] }), CONSIDERED) ??
        memorySource.leading(kind, condition(), CONSIDERED)),
    ];
    return table.numbered([...new Set(versions)]);
  }
}
