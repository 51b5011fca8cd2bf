import type { ContextItem } from "../../../src/domain/context/item.ts";
import type { LayerName } from "../../../src/domain/context/layers/rules.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { hash16 } from "../../../src/domain/hash.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { MessagePage } from "../../../src/domain/page-json.ts";
import type {
  ContextRequest,
  LayerFound,
  MessagesQuery,
  PlacedSection,
  PromptContext,
} from "../../../src/contract/user-memory.ts";
import type { Conversations } from "../threads/conversations.ts";
import type { StoredThread } from "../threads/thread-row.ts";
import type { RecallLog } from "../usage/recall-log.ts";
import type { RecallService } from "../recall/recall-service.ts";
import { ContextItems, type ItemDependencies } from "./context-items.ts";
import { InstructionMessages } from "./instruction-messages.ts";
import { LayerChoices } from "./layer-choices.ts";
import { LayerSearch } from "./layer-search.ts";
import { type Answer, NO_SUCH_THREAD, Prompt, type PromptParts } from "./prompt.ts";
import { PromptedMessages } from "./prompted-messages.ts";
import { type OwnerObject, SharedOwners } from "./shared-owners.ts";
import { StableBlocks } from "./stable-blocks.ts";
import { TurnBlocks } from "./turn-blocks.ts";
import { promptTurn } from "./turn-names.ts";

type ContextDependencies = Omit<ItemDependencies, "instructions"> &
  Pick<PromptParts, "transactions" | "erasureEpoch" | "tokenCounter" | "now"> & {
    recall: RecallService;
    log: Pick<RecallLog, "note">;
    conversations: Pick<Conversations, "resume">;
    /** The object of a shared owner. */
    objectOf: (owner: UserHash) => OwnerObject;
  };

/** Makes the memory of a prompt: a stable block for the thread, and a block for each turn, which is stored with it. */
export class ContextService {
  readonly #conversations: Pick<Conversations, "resume">;
  readonly #parts: PromptParts;

  constructor(deps: ContextDependencies) {
    const { compactions } = deps.stores;
    const shared = new SharedOwners(deps.objectOf);
    const instructions = new InstructionMessages(deps);
    const items = new ContextItems({ ...deps, instructions });
    const choices = new LayerChoices({ ...deps, compactions, instructions });
    const parts = { ...deps, compactions, items, choices, shared };
    const search = new LayerSearch(parts);
    this.#conversations = deps.conversations;
    this.#parts = {
      ...parts,
      search,
      stable: new StableBlocks(parts),
      prompted: new PromptedMessages(parts),
      turnBlocks: new TurnBlocks({ ...parts, search }),
    };
  }

  async context(request: ContextRequest): Promise<Result<PromptContext>> {
    const { erasureEpoch, prompted, stores } = this.#parts;
    const { current: epoch } = erasureEpoch;
    const found = await this.#thread(request);
    if (!found.ok) return found;
    const { value: thread } = found;
    const turn = thread === null ? null : await promptTurn({ ...this.#parts, thread }, request);
    const made = await new Prompt(this.#parts, { request, thread, turn, epoch }).answer();
    if (!made.ok) return made;
    const answer = await withEtags({
      ...made.value,
      ...(thread !== null && request.thread !== undefined && { threadId: thread.id }),
    });
    if (thread === null || request.history === undefined) return ok(answer);
    // The last messages of the thread, with the blocks that they were sent with.
    const page = stores.reader.page(thread, {
      order: "newest",
      limit: request.history,
      view: "compacted",
      wholeTurns: true,
    });
    const { items: history, isReduced } = await prompted.page(thread, page.items, { reduces: true });
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
      const resumed = await this.#conversations.resume(named.owner, named.newId, { agent: named.agent });
      if (!resumed.ok) return resumed;
      ({ id } = resumed.value.thread);
    }
    if (id === undefined) return ok(null);
    const thread = this.#parts.stores.threads.get(id);
    return thread === null ? NO_SUCH_THREAD : ok(thread);
  }

  /** A page of the thread as its prompts had it: each message of the user with the block that it was sent with. */
  async prompted(id: string, query: MessagesQuery): Promise<Result<MessagePage>> {
    const { stores, prompted } = this.#parts;
    const thread = stores.threads.get(id);
    if (thread === null) return fail("not_found");
    const page = stores.reader.page(thread, query);
    const { items } = await prompted.page(thread, page.items, { reduces: false });
    return ok({ ...page, items });
  }

  /** Searches this object alone. */
  searchLayers(request: ContextRequest): Promise<LayerFound[]> {
    return this.#parts.search.own(request);
  }

  /** The items at places of this object. */
  contextItems(sections: readonly PlacedSection[]): (ContextItem & { layer: LayerName })[] {
    const read = this.#parts.items.sections(sections, this.#parts.now());
    return read.flatMap(({ layer, items }) => items.map((item) => ({ ...item, layer })));
  }
}

async function withEtags({ stable, ...answer }: Answer): Promise<PromptContext> {
  const [stableTag, etag] = await Promise.all([
    hash16(stable.text),
    hash16(JSON.stringify([stable.text, answer.recalled.text, answer.pinned ?? [], answer.threadId])),
  ]);
  return { ...answer, stable: { ...stable, etag: stableTag }, etag };
}
