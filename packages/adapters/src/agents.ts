// Cloudflare's `agents` SDK: a block for `agents/context`, and the ingest of `agents/sessions`.
import type { Cairn } from "../../client/src/cairn.ts";
import { waitingText } from "../../../src/domain/conversation/waiting-text.ts";
import type { OptionNames } from "../../client/src/known-options.ts";
import { type ContextFailure, guarded } from "./context/guarded.ts";
import { memoryOf } from "./context/memory-of.ts";
import {
  CONTEXT_CALL_OPTIONS,
  type ContextCallOptions,
  isText,
  requireContextOptions,
} from "./context/require-context-options.ts";
import {
  BACKGROUND_INGEST_OPTIONS,
  BackgroundIngest,
  type BackgroundIngestOptions,
  requireIngestOptions,
} from "./ingest/background-ingest.ts";
import { limited } from "./limits/time-limit.ts";
import { isNumberOrUnset, requireUser, requireValid } from "./options/require-options.ts";

export type { ContextFailure } from "./context/guarded.ts";
export type { ContextOptions } from "./context/prompt-memory.ts";
export type { IngestFailure } from "./ingest/background-ingest.ts";

export type CairnMemoryBlockOptions = ContextCallOptions & {
  /** The client; its token may read the user's memory, and write it for `set_context`. */
  memory: Pick<Cairn, "context" | "recall" | "memories">;
  user: string;
  /** The most hits of `search_context`; 10 unless set. */
  k?: number;
  /** Lets the model store memories with `set_context`; false unless set. */
  writable?: boolean;
};

/** A provider of a block in `ContextBlocks` (`SearchProvider`). */
export type CairnMemoryBlock = {
  get(): Promise<string | null>;
  search(query: string): Promise<string | null>;
  set?(key: string, content: string): Promise<void>;
};

const BLOCK_OPTIONS: OptionNames<CairnMemoryBlockOptions> = {
  memory: true,
  user: true,
  k: true,
  writable: true,
  ...CONTEXT_CALL_OPTIONS,
};
const MOST_HITS = 100;

/**
 * A block of a prompt with what Cairn knows of a user: the stable block of the context, and a search that the model may
 * call. With `writable`, `set_context` stores a memory with the trust `model`; the same key again replaces it. Failures go to
 * `onError`, unless `strict`. Throws a `TypeError` for an invalid option.
 *
 * @example
 * const context = new ContextBlocks([
 *   { label: "memory", description: "Facts about the user", provider: cairnMemoryBlock({ memory, user: "alice" }) },
 * ]);
 */
export function cairnMemoryBlock(options: CairnMemoryBlockOptions): CairnMemoryBlock {
  requireUser("cairnMemoryBlock", options, BLOCK_OPTIONS);
  requireContextOptions("cairnMemoryBlock", options);
  requireValid(
    "cairnMemoryBlock",
    { k: isNumberOrUnset(options.k, 1, MOST_HITS) },
    `a number from 1 to ${MOST_HITS}`,
  );
  const { memory, user, k = 10, writable = false } = options;
  return {
    async get() {
      const { stable } = await memoryOf(options, undefined, []);
      return stable === "" ? null : stable;
    },
    search: (query) =>
      guarded<string | null, ContextFailure>(
        options,
        async (signal) => {
          const { hits } = await memory.recall(user, { query, k }, { signal });
          const lines = hits.map(({ text }) => `- ${text.replaceAll(/\s+/g, " ")}`);
          return lines.length === 0 ? null : lines.join("\n");
        },
        { otherwise: null, failure: () => ({ doing: "context" }) },
      ),
    ...(writable && {
      // A failure is the model's to see. So is a quarantine: the SDK would tell it that the text is written.
      async set(key: string, content: string) {
        const { memories } = limited(memory, options);
        const by = { trust: "model", adapter: "agents" } as const;
        const waiting = waitingText(await memories.remember(user, { text: content, key }, by));
        if (waiting !== null) throw new Error(waiting);
      },
    }),
  };
}

export type CairnSessionIngestOptions = BackgroundIngestOptions & {
  /** The client; its token may write the user's memory. */
  memory: Pick<Cairn, "ingest" | "later">;
  user: string;
  /** The name of the Durable Object: each has conversations of its own. */
  name: string;
};

/** The part of a session of `agents/sessions` that is read. */
export type ReadSession = {
  sessionId: string;
  getRecentHistory(
    maxContentBytes: number,
  ): Promise<{ messages: { id: string; role: string; parts: unknown[] }[] }>;
};
export type CairnSessionIngest = {
  /** Submits what the session has new. Call it after each turn. Never rejects. */
  afterTurn(session: ReadSession): Promise<void>;
  /** The sessions whose last turns are not stored yet. */
  readonly pending: string[];
  /** Sends all that waits. */
  settle(): Promise<void>;
};

const SESSION_OPTIONS: OptionNames<CairnSessionIngestOptions> = {
  memory: true,
  user: true,
  name: true,
  ...BACKGROUND_INGEST_OPTIONS,
};
/** Bytes of a session that are read after a turn. */
const READ_BYTES = 2 * 1024 * 1024;
/** The id of a summary that stands for messages, which Cairn has. */
const COMPACTION = "compaction_";

/**
 * Copies the conversations of `agents/sessions` to Cairn after each turn, which extracts memories from them in the
 * background and finds every word of them. Failures go to `onError` and break no turn. Throws a `TypeError` for an
 * invalid option.
 *
 * @example
 * const ingest = cairnSessionIngest({ memory, user: "alice", name: this.name });
 * await ingest.afterTurn(this.sessions.session());
 */
export function cairnSessionIngest(options: CairnSessionIngestOptions): CairnSessionIngest {
  requireUser("cairnSessionIngest", options, SESSION_OPTIONS);
  requireIngestOptions("cairnSessionIngest", options);
  requireValid("cairnSessionIngest", { name: isText(options.name) }, "the name of the Durable Object");
  const { memory, user, name } = options;
  const ingest = new BackgroundIngest(memory, "agents", options);
  return {
    async afterTurn(session) {
      const conversation = session.sessionId === "" ? name : `${name}/${session.sessionId}`;
      let messages: { id: string; role: string; parts: unknown[] }[];
      try {
        ({ messages } = await session.getRecentHistory(READ_BYTES));
      } catch (error) {
        memory.later(async () => {
          if (options.onError === undefined) throw error;
          await options.onError(error, { doing: "ingest", conversation });
        });
        return;
      }
      const said = messages.filter(({ id, role }) => role !== "system" && !id.startsWith(COMPACTION));
      if (said.length === 0) return;
      ingest.submit({
        user,
        name: conversation,
        body: { messages: said, sessionId: `agents/${conversation}` },
      });
    },
    get pending() {
      return ingest.pending;
    },
    settle: () => ingest.settle(),
  };
}
