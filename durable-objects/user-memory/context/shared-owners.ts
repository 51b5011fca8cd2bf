import type { ContextItem, NumberedPlace, Place } from "../../../src/domain/context/item.ts";
import type { LayerName } from "../../../src/domain/context/layers/rules.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import { withDeadline } from "../../../src/platform/deadline.ts";
import type {
  ContextRequest,
  ContextRpc,
  LayerFound,
  PlacedSection,
} from "../../../src/contract/user-memory.ts";

/** The calls that one user's object makes to a shared owner's. */
export type OwnerObject = Pick<ContextRpc, "searchLayers" | "contextItems">;

/**
 * Items of shared owners, by the layer and the place that a block has of them. `gone`: the owner has it no more; `away`: the
 * owner did not answer.
 */
export type SharedItems = ReadonlyMap<string, SharedItem>;
type SharedItem = ContextItem | "gone" | "away";
type SharedPlace = { layer: LayerName; place: NumberedPlace };

export const NO_SHARED: SharedItems = new Map();

/** Names an item of a block by its layer and place. */
export const sharedKey = (layer: string, place: Place): string => JSON.stringify([layer, place]);

/** The deadline of a shared owner's object, if it is asked for the texts of kept blocks. */
const ITEMS_MS = 2_000;

/**
 * Reads the memories of shared owners from their objects. A block has the places of these memories, so a memory that its
 * owner forgets leaves the blocks of all users.
 */
export class SharedOwners {
  readonly #objectOf: (owner: UserHash) => OwnerObject;

  constructor(objectOf: (owner: UserHash) => OwnerObject) {
    this.#objectOf = objectOf;
  }

  /** Searches a shared owner's object for each layer that searches. The places of the items name the owner. */
  async search(owner: UserHash, request: ContextRequest): Promise<LayerFound[]> {
    const found = await this.#objectOf(owner).searchLayers({ ...request, owner });
    return found.map((layer) => ({ ...layer, items: layer.items.map((item) => ofOwner(item, owner)) }));
  }

  /** The items of shared owners in these sections. An owner that does not answer has none. */
  async items(sections: readonly PlacedSection[]): Promise<SharedItems> {
    const shared = sections.flatMap(({ layer, places }) =>
      places.flatMap((place) =>
        "n" in place && place.owner !== undefined ? [{ layer, place, owner: place.owner }] : [],
      ),
    );
    if (shared.length === 0) return NO_SHARED;
    const byOwner = Map.groupBy(shared, ({ owner }) => owner);
    const items = await Promise.all(Array.from(byOwner, ([owner, some]) => this.#itemsOf(owner, some)));
    return new Map(items.flat());
  }

  async #itemsOf(owner: UserHash, all: readonly SharedPlace[]): Promise<[string, SharedItem][]> {
    const are = (state: "gone" | "away") =>
      all.map(({ layer, place }): [string, SharedItem] => [sharedKey(layer, place), state]);
    const sections = all.map(({ layer, place: { owner: _owner, ...own } }) => ({ layer, places: [own] }));
    try {
      const items = await withDeadline(this.#objectOf(owner).contextItems(sections), ITEMS_MS);
      const theirs = items.map((item): [string, SharedItem] => {
        const shared = ofOwner(item, owner);
        return [sharedKey(item.layer, shared.place), shared];
      });
      return [...are("gone"), ...theirs];
    } catch (error) {
      console.error({ message: "a shared owner does not answer", error: String(error) });
      return are("away");
    }
  }
}

/** An item as another user sees it: its place names the owner, and its text says that it is not the user's. */
const ofOwner = <Item extends ContextItem>(item: Item, owner: UserHash): Item => ({
  ...item,
  shown: { ...item.shown, text: item.shown.text.replace(/^(\[[^\]]*)\]/, "$1 | shared]") },
  place: "n" in item.place ? { ...item.place, owner } : item.place,
});
