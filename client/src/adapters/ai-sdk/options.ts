import type { Cairn } from "../../cairn.ts";
import type { Message } from "../../shapes.ts";
import type { GuardOptions } from "../context/guarded.ts";
import type { ThreadOption } from "../context/named-thread.ts";
import type { ContextOptions } from "../context/prompt-memory.ts";

/** The operation that failed; for a save, with the messages that are not stored. */
export type MemoryFailure =
  | { doing: "context" | "history" }
  | { doing: "save"; messages: readonly Message[] };

/** Options of both the middleware and the step. */
export type MemoryOptions = GuardOptions<MemoryFailure> & {
  /** The client; its token may read the user's memory, and write it where turns are saved. */
  memory: Pick<Cairn, "context" | "threads" | "later">;
  /** The user whose memory is read and written. */
  user: string;
  /** A thread's id, or the agent with whom the user's latest thread is. It keeps each turn's block. */
  thread?: ThreadOption;
  /** Options of the context; `false` adds no memory to prompts. */
  context?: ContextOptions | false;
};
