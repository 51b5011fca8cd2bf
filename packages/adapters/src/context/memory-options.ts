import type { Cairn } from "../../../client/src/cairn.ts";
import type { Names, OptionNames } from "../../../client/src/known-options.ts";
import type { Message } from "../../../client/src/shapes.ts";
import { requireUser } from "../options/require-options.ts";
import type { GuardOptions } from "./guarded.ts";
import type { ThreadOption } from "./named-thread.ts";
import type { ContextOptions } from "./prompt-memory.ts";
import { CONTEXT_CALL_OPTIONS, requireContextOptions, requireThread } from "./require-context-options.ts";

/** The operation that failed; for a save, with the messages that are not stored. */
export type MemoryFailure =
  | { doing: "context" | "history" }
  | { doing: "save"; messages: readonly Message[] };

/** Options of an adapter that gives prompts the memory of one user. */
export type MemoryOptions = GuardOptions<MemoryFailure> & {
  /** The client; its token may read the user's memory, and write it where the thread is an agent's. */
  memory: Pick<Cairn, "context" | "threads">;
  /** The user whose memory is read and written. */
  user: string;
  /** A thread's id, or the agent with whom the user's latest thread is. It keeps each turn's block. */
  thread?: ThreadOption;
  /** Options of the context; `false` adds no memory to prompts. */
  context?: ContextOptions | false;
};

export const MEMORY_OPTIONS: OptionNames<MemoryOptions> = {
  memory: true,
  user: true,
  thread: { agent: true },
  ...CONTEXT_CALL_OPTIONS,
};

/**
 * Throws a `TypeError` if the client or the user is missing, or an option is invalid. A programming error is thrown,
 * and not reported to `onError` as an outage.
 */
export function requireMemoryOptions(
  made: string,
  options: MemoryOptions,
  names: Names = MEMORY_OPTIONS,
): void {
  requireUser(made, options, names);
  const { thread, context, ...others } = options;
  requireThread(made, thread);
  requireContextOptions(made, { ...others, ...(context !== false && { context }) });
}
