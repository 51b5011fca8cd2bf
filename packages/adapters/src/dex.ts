import type { CallOptions } from "../../client/src/index.ts";
import { Background } from "./dex/background.ts";
import { blockOf, type Remembered } from "./dex/block.ts";
import { recallEpisodes } from "./dex/episodes.ts";
import { recallFacts } from "./dex/facts.ts";
import { AddedBlocks, turnAt } from "./dex/added-blocks.ts";
import { Seen, textOf } from "./dex/messages.ts";
import { Procedures } from "./dex/procedures.ts";
import { limited, withinLimit } from "./limits/time-limit.ts";
import { requireValid, requireUser, isNumberOrUnset } from "./options/require-options.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
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

const OPTIONS: OptionNames<DexMemoryOptions> = {
  memory: true,
  user: true,
  projectRoot: true,
  cwd: true,
  procedureOwner: true,
  procedureMemory: true,
  episodicRecent: true,
  episodicSimilar: true,
  semanticLimit: true,
  proceduralThreshold: true,
  llm: true,
  autoWrite: true,
  autoWriteMinMessages: true,
  llmWithinMs: true,
  timeoutMs: true,
  role: true,
  onError: true,
  now: true,
};

const PROCEDURES = "shared:procedures";
const LLM_WITHIN_MS = 60_000;
/** Characters of the user's words in a query. Recall reads only the first and last 4 KiB of a query over 8 KiB. */
const QUERY = 2_500;

/**
 * A memory extension for a coding agent: the project's episodes, the user's facts, and procedures. A plain object whose
 * hooks any extension host can call.
 *
 * @example
 * const extension = dexMemory({ memory, user: "alice", projectRoot: "/projects/shop", llm });
 * const answer = await model(await extension.inject(messages), extension.tools);
 * extension.afterTurn([...messages, answer]);
 * await extension.dispose();
 */
export function dexMemory(options: DexMemoryOptions): DexMemory {
  requireUser("dexMemory", options, OPTIONS);
  requireValidValues(options);
  const { user, projectRoot, llm, role = "user", now = Date.now, llmWithinMs = LLM_WITHIN_MS } = options;
  const memory = limited(options.memory, options);
  const { procedureOwner: shared = PROCEDURES, procedureMemory = memory } = options;
  const writer = limited(procedureMemory, options);
  const { episodicRecent: recent = 5, episodicSimilar: similar = 3, semanticLimit: most = 10 } = options;
  const { proceduralThreshold = 0.5, autoWrite = true, autoWriteMinMessages: minMessages = 1 } = options;
  const tell =
    options.onError ??
    ((error: unknown) => {
      throw error;
    });
  // The client's `onLaterError` receives errors without a listener, and errors that `tell` throws.
  const onError = (error: unknown): void => memory.later(async () => tell(error));
  const procedures = new Procedures({ memory, writer, user, shared });
  const background =
    llm && autoWrite ? new Background({ memory, user, llm, llmWithinMs, minMessages, onError }) : undefined;
  const seen = new Seen();
  const addedBlocks = new AddedBlocks();

  /** The messages of the user, the model and its tools, without those of the host and of this extension. */
  const spoken = (messages: readonly DexMessage[]): DexMessage[] =>
    addedBlocks.without(messages).filter(({ role: from }) => from !== "system" && from !== "developer");

  /** Recalls the three kinds independently: if one fails or is late, the others remain. */
  async function remembered(
    query: string,
    signal: AbortSignal | undefined,
  ): Promise<Remembered & { whole: boolean }> {
    const failures = new Map<string, unknown>();
    const orNone = async <T>(find: (within: CallOptions) => Promise<T[]>): Promise<T[]> =>
      withinLimit(options, (within) => find({ signal: within }), signal).catch((error: unknown) => {
        signal?.throwIfAborted();
        failures.set(String(error), error);
        return [];
      });
    // All three begin now, so they share the limit.
    const [episodes, facts, announced] = await Promise.all([
      orNone((within) => recallEpisodes({ memory, user, projectRoot, recent, similar }, query, within)),
      orNone((within) => recallFacts({ memory, user, most }, query, within)),
      orNone((within) => procedures.announced(query, proceduralThreshold, within)),
    ]);
    // An outage is one failure, of whatever number of calls.
    for (const error of failures.values()) onError(error);
    return { episodes, facts, procedures: announced, whole: failures.size === 0 };
  }

  async function blockOfTurn(
    turn: string,
    latest: DexMessage,
    signal: AbortSignal | undefined,
  ): Promise<DexBlock | null> {
    const found = await remembered(textOf(latest).trim().slice(0, QUERY).toWellFormed(), signal);
    const content = blockOf(found, now());
    const block = content === null ? null : { role, content };
    if (block !== null) addedBlocks.add(block);
    if (found.whole) addedBlocks.keep(turn, block);
    return block;
  }

  return {
    name: "memory",
    tools: toolsOf({ memory, user, procedures }, options),

    start(history) {
      seen.fresh(spoken(history));
    },

    async inject<M extends DexMessage>(messages: readonly M[], { signal }: CallOptions = {}) {
      const said = addedBlocks.without(messages);
      const at = said.findLastIndex((message) => message.role === "user" && textOf(message).trim() !== "");
      const latest = said[at];
      if (latest === undefined) return said;
      // A host may add and change system messages during a turn, so that they do not count.
      const turn = await turnAt(spoken(said.slice(0, at)).length, latest);
      // After the user's message a turn begins, even if an earlier session had the same words at this place.
      const known = at === said.length - 1 ? undefined : addedBlocks.of(turn);
      const block = known === undefined ? await blockOfTurn(turn, latest, signal) : known;
      return block === null ? said : [...said.slice(0, at), block, ...said.slice(at)];
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

/** Limits of a recall's hits and of a page's items (src/domain/limits.ts). */
const HITS = 100;
const PAGE = 1000;

/** Throws a programming error at once, instead of reporting it to `onError` every turn. */
function requireValidValues(options: DexMemoryOptions): void {
  const { episodicRecent, episodicSimilar, semanticLimit, proceduralThreshold } = options;
  const { autoWrite, autoWriteMinMessages } = options;
  const made = "dexMemory";
  requireValid(
    made,
    { episodicRecent: isWhole(episodicRecent, 0, PAGE) },
    `a whole number from 0 to ${PAGE}`,
  );
  requireValid(
    made,
    { episodicSimilar: isWhole(episodicSimilar, 0, HITS), semanticLimit: isWhole(semanticLimit, 0, HITS) },
    `a whole number from 0 to ${HITS}`,
  );
  requireValid(
    made,
    { proceduralThreshold: isNumberOrUnset(proceduralThreshold, 0, 1) },
    "a number from 0 to 1",
  );
  requireValid(
    made,
    { autoWrite: autoWrite === undefined || typeof autoWrite === "boolean" },
    "true or false",
  );
  requireValid(made, { autoWriteMinMessages: isWhole(autoWriteMinMessages, 1) }, "a whole number from 1 on");
}

const isWhole = (value: number | undefined, min: number, max?: number): boolean =>
  value === undefined || (Number.isInteger(value) && isNumberOrUnset(value, min, max));
