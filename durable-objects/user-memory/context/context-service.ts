import type { ContextItem } from "../../../src/domain/context/item.ts";
import type { LayerName } from "../../../src/domain/context/layers/rules.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { MessagePage, ReadMessage } from "../../../src/domain/page-json.ts";
import type {
  ContextRequest,
  LayerFound,
  MessagesQuery,
  PlacedSection,
  PromptContext,
} from "../../../src/contract/user-memory.ts";
import type { ThreadBeginnings } from "../threads/thread-beginnings.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { ContextItems, type ItemDependencies } from "./context-items.ts";
import { isAnyReduced, KeptTurns } from "./kept-turns.ts";
import { LayerChoices } from "./layer-choices.ts";
import { LayerSearch } from "./layer-search.ts";
import { type Answer, NO_SUCH_THREAD, Prompt, type PromptParts } from "./prompt.ts";
import { type OwnerObject, SharedOwners } from "./shared-owners.ts";
import { StableBlocks } from "./stable-blocks.ts";
import { StandingMessages } from "./standing-messages.ts";
import { TurnBlocks } from "./turn-blocks.ts";

type ContextDependencies = Omit<ItemDependencies, "standing"> &
  Pick<PromptParts, "transactions" | "erasureEpoch" | "tokenCounter" | "now"> & {
    recall: RecallService;
    log: Pick<RecallLog, "note">;
    beginnings: Pick<ThreadBeginnings, "resume">;
    /** The object of a shared owner. */
    objectOf: (owner: UserHash) => OwnerObject;
  };

/** Makes the memory of a prompt: a stable block for the thread, and a block for each turn, which is kept with it. */
export class ContextService {
  readonly #beginnings: Pick<ThreadBeginnings, "resume">;
  readonly #parts: PromptParts;

  constructor(deps: ContextDependencies) {
    const { store, table, memorySource, entries, stores, recall, log, objectOf, now } = deps;
    const { compactions } = stores;
    const shared = new SharedOwners(objectOf);
    const standing = new StandingMessages(deps);
    const items = new ContextItems({ ...deps, standing });
    const choices = new LayerChoices({ table, memorySource, entries, compactions, standing });
    const search = new LayerSearch({ recall, items, shared, now });
    this.#beginnings = deps.beginnings;
    this.#parts = {
      ...deps,
      items,
      search,
      shared,
      stable: new StableBlocks({ store, table, memorySource, compactions, items, choices }),
      turns: new KeptTurns({ store, stores, items, shared, now }),
      turnBlocks: new TurnBlocks({ items, choices, search, log }),
    };
  }

  async context(request: ContextRequest): Promise<Result<PromptContext>> {
    const { current: epoch } = this.#parts.erasureEpoch;
    const found = await this.#thread(request);
    if (!found.ok) return found;
    const { value: thread } = found;
    const turn = thread === null ? null : await this.#parts.turns.inPrompt(thread, request);
    const made = await new Prompt(this.#parts, request, { thread, turn, epoch }).answer();
    if (!made.ok) return made;
    const answer = await withEtags({
      ...made.value,
      ...(thread !== null && request.thread !== undefined && { threadId: thread.id }),
    });
    if (thread === null || request.history === undefined) return ok(answer);
    const { items: history, isReduced } = await this.#history(thread, request.history);
    return ok({
      ...answer,
      ...(isReduced && { prefixChanged: true as const }),
      history,
      isStored: turn?.isStored ?? false,
    });
  }

  async #thread({ threadId, thread: named }: ContextRequest): Promise<Result<StoredThread | null>> {
    let id = threadId;
    if (named !== undefined) {
      const resumed = await this.#beginnings.resume(named.owner, named.newId, { agent: named.agent });
      if (!resumed.ok) return resumed;
      ({ id } = resumed.value.thread);
    }
    if (id === undefined) return ok(null);
    const thread = this.#parts.stores.threads.get(id);
    return thread === null ? NO_SUCH_THREAD : ok(thread);
  }

  /** The last messages of a thread, with the blocks that they were sent with. */
  async #history(thread: StoredThread, limit: number): Promise<{ items: ReadMessage[]; isReduced: boolean }> {
    const { stores, turns: keptTurns } = this.#parts;
    const query: MessagesQuery = { order: "newest", limit, view: "compacted", wholeTurns: true };
    const page = stores.reader.page(thread, query);
    const { items, turns, shared } = await keptTurns.prompted(thread, page.items);
    return { items, isReduced: isAnyReduced(keptTurns.texts(turns, shared)) };
  }

  /** A page of the thread as its prompts had it: each message of the user with the block that it was sent with. */
  async prompted(id: string, query: MessagesQuery): Promise<Result<MessagePage>> {
    const { stores, turns } = this.#parts;
    const thread = stores.threads.get(id);
    if (thread === null) return fail("not_found");
    const page = stores.reader.page(thread, query);
    const { items } = await turns.prompted(thread, page.items);
    return ok({ ...page, items });
  }

  /** Searches this object alone. */
  searchLayers(request: ContextRequest): Promise<LayerFound[]> {
    return this.#parts.search.own(request);
  }

  /** The items at places of this object. */
  contextItems(sections: readonly PlacedSection[]): (ContextItem & { layer: LayerName })[] {
    const resolved = this.#parts.items.resolve(sections, this.#parts.now());
    return resolved.flatMap(({ layer, items }) => items.map((item) => ({ ...item, layer })));
  }
}

async function withEtags({ stable, ...answer }: Answer): Promise<PromptContext> {
  const [stableTag, etag] = await Promise.all([
    hash16(stable.text),
    hash16(JSON.stringify([stable.text, answer.recalled.text, answer.pinned ?? [], answer.threadId])),
  ]);
  return { ...answer, stable: { ...stable, etag: stableTag }, etag };
}
