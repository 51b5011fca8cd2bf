import type { CallOptions } from "../index.ts";
import { Background } from "./dex/background.ts";
import { blockOf, type Remembered } from "./dex/block.ts";
import { recallEpisodes } from "./dex/episodes.ts";
import { recallFacts } from "./dex/facts.ts";
import { Injected } from "./dex/injected.ts";
import { Seen, textOf } from "./dex/messages.ts";
import { Procedures } from "./dex/procedures.ts";
import { demandUser } from "./options/demand.ts";
import { toolsOf } from "./dex/tools.ts";
import type { DexBlock, DexMemory, DexMemoryOptions, DexMessage } from "./dex/types.ts";

export type {
  DexBlock,
  DexEpisode,
  DexFact,
  DexMemory,
  DexMemoryOptions,
  DexMessage,
  DexProcedure,
  DexRequest,
  DexSchema,
  DexTool,
  DexToolArguments,
  DexToolName,
} from "./dex/types.ts";

const PROCEDURES = "shared:procedures";
const LLM_WITHIN_MS = 60_000;
const RECALL_WITHIN_MS = 3_000;
/** Characters of what a user says that are searched by: a query has 8 KiB. */
const QUERY = 2_500;

/**
 * The memory extension of a coding agent, over Cairn: what was done in the project, what is known of the user, and how
 * things are done. A plain object, whose hooks any host of extensions can call.
 *
 * @example
 * const extension = dexMemory({ memory, user: "alice", projectRoot: "/projects/shop", llm });
 * const answer = await model(await extension.inject(messages), extension.tools);
 * extension.afterTurn([...messages, answer]);
 * await extension.dispose();
 */
export function dexMemory(options: DexMemoryOptions): DexMemory {
  demandUser("dexMemory", options);
  const { memory, user, projectRoot, llm, role = "user", now = Date.now } = options;
  const { procedureOwner: shared = PROCEDURES, procedureMemory: writer = memory } = options;
  const { llmWithinMs = LLM_WITHIN_MS, recallWithinMs = RECALL_WITHIN_MS } = options;
  const tell =
    options.onError ??
    ((error: unknown) => {
      throw error;
    });
  // What nobody is told, and what `tell` throws itself, goes to the client's `onLaterError`.
  const onError = (error: unknown): void => memory.later(async () => tell(error));
  const procedures = new Procedures({ memory, writer, user, shared });
  const background = llm && new Background({ memory, user, llm, llmWithinMs, onError });
  const seen = new Seen();
  const injected = new Injected();

  /** What the user, the model and its tools said: not what the host or this extension put in. */
  const spoken = (messages: readonly DexMessage[]): DexMessage[] =>
    injected.without(messages).filter(({ role: from }) => from !== "system" && from !== "developer");

  /** What is remembered of three kinds, each by itself: one that fails or is late leaves the others. */
  async function remembered(
    query: string,
    signal: AbortSignal | undefined,
  ): Promise<Remembered & { whole: boolean }> {
    let whole = true;
    const late = AbortSignal.timeout(recallWithinMs);
    const within: CallOptions = { signal: signal === undefined ? late : AbortSignal.any([signal, late]) };
    const orNone = async <T>(found: Promise<T[]>): Promise<T[]> =>
      found.catch((error: unknown) => {
        signal?.throwIfAborted();
        whole = false;
        onError(error);
        return [];
      });
    const [episodes, facts, announced] = await Promise.all([
      orNone(recallEpisodes({ memory, user, projectRoot }, query, within)),
      orNone(recallFacts({ memory, user }, query, within)),
      orNone(procedures.announced(query, within)),
    ]);
    return { episodes, facts, procedures: announced, whole };
  }

  async function blockBefore(latest: DexMessage, signal: AbortSignal | undefined): Promise<DexBlock | null> {
    const found = await remembered(textOf(latest).trim().slice(0, QUERY).toWellFormed(), signal);
    const content = blockOf(found, now());
    return content === null ? null : injected.made({ role, content }, found.whole ? latest : null);
  }

  return {
    name: "memory",
    tools: toolsOf({ memory, user, procedures }),

    start(history) {
      seen.fresh(spoken(history));
    },

    async inject<M extends DexMessage>(messages: readonly M[], { signal }: CallOptions = {}) {
      const said = injected.without(messages);
      const at = said.findLastIndex((message) => message.role === "user" && textOf(message).trim() !== "");
      const latest = said[at];
      if (latest === undefined) return said;
      const known = injected.before(latest) ?? (await blockBefore(latest, signal));
      return known === null ? said : [...said.slice(0, at), known, ...said.slice(at)];
    },

    afterTurn(messages, { cwd = options.cwd ?? projectRoot } = {}) {
      const fresh = seen.fresh(spoken(messages));
      if (fresh.length > 0) background?.add({ messages: fresh, projectRoot, cwd, at: now() });
    },

    get pending() {
      return background?.pending ?? [];
    },

    async dispose(within = {}) {
      await background?.settle(within);
    },
  };
}
