import type { AiMessage } from "../../../../src/domain/conversation/message.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import type { OptionNames } from "../../../client/src/known-options.ts";
import type { ThreadOption } from "../context/named-thread.ts";
import { isText, requireThread } from "../context/require-context-options.ts";
import {
  BACKGROUND_INGEST_OPTIONS,
  BackgroundIngest,
  type BackgroundIngestOptions,
  requireIngestOptions,
} from "../ingest/background-ingest.ts";
import { requireUser, requireValid } from "../options/require-options.ts";

export type CairnMemoryExtractOptions = BackgroundIngestOptions & {
  /** The client; its token may write the user's memory. */
  memory: Pick<Cairn, "ingest" | "later" | "threads">;
  user: string;
} & (
    | {
        /** The thread in which `cairnConversations` keeps the conversation: its id, or the agent. */
        thread: ThreadOption;
        session?: never;
      }
    | {
        /** An id of the conversation, where another store keeps it. Cairn keeps it too. */
        session: string;
        thread?: never;
      }
  );

/** A middleware of the SDK (`AiMiddleware`). */
export type CairnMemoryExtract = {
  name: string;
  onFinish(ctx: { messages: AiMessage[] }): void;
  /** Names of the conversations that are not stored yet. */
  readonly pending: string[];
  /** Sends all that waits. */
  settle(): Promise<void>;
};

type Checked = CairnMemoryExtractOptions & { thread?: ThreadOption; session?: string };
const OPTIONS: OptionNames<Checked> = {
  memory: true,
  user: true,
  thread: { agent: true },
  session: true,
  ...BACKGROUND_INGEST_OPTIONS,
};

/**
 * A middleware that lets Cairn extract memories from the conversation after each run, in place of the SDK's
 * `withMemoryExtract`: no run waits for a model. Put it last, once for all runs of a conversation. Failures go to
 * `onError` and break no run. Throws a `TypeError` for an invalid option.
 *
 * @example
 * const extract = cairnMemoryExtract({ memory, user: "alice", thread: { agent: "SupportAgent" } });
 * const middleware = () => [inject, extract];
 */
export function cairnMemoryExtract(options: CairnMemoryExtractOptions): CairnMemoryExtract {
  requireUser("cairnMemoryExtract", options, OPTIONS);
  requireThread("cairnMemoryExtract", options.thread);
  requireIngestOptions("cairnMemoryExtract", options);
  const { memory, user, thread, session } = options;
  requireValid(
    "cairnMemoryExtract",
    { session: thread === undefined ? isText(session) : session === undefined },
    "the conversation's id, unless `thread` is set",
  );
  const ingest = new BackgroundIngest(byThread(memory, user, thread), "gemstack", options);
  return {
    name: "cairn-memory-extract",
    onFinish({ messages }) {
      const said = messages.filter(({ role }) => role !== "system");
      const name = session ?? (typeof thread === "string" ? thread : (thread?.agent ?? ""));
      ingest.submit({ user, name, body: thread === undefined ? { sessionId: name, messages: said } : {} });
    },
    get pending() {
      return ingest.pending;
    },
    settle: () => ingest.settle(),
  };
}

/** An ingest of the thread that has the conversation by then: the agent's latest one. */
function byThread(
  memory: CairnMemoryExtractOptions["memory"],
  user: string,
  thread: ThreadOption | undefined,
): Pick<Cairn, "ingest" | "later"> {
  if (thread === undefined) return memory;
  return {
    later: memory.later,
    async ingest(owner, body, how) {
      const { id } =
        typeof thread === "string"
          ? { id: thread }
          : await memory.threads.resume(user, thread, { signal: how?.signal });
      return memory.ingest(owner, { ...body, threadId: id }, how);
    },
  };
}
