import type { Cairn } from "../../cairn.ts";
import type { Message } from "../../shapes.ts";
import type { ThreadOption } from "../context/named-thread.ts";
import type { ContextOptions } from "../context/prompt-memory.ts";

/** The operation that failed; for a save, with the messages that are not stored. */
export type MemoryFailure =
  | { doing: "context" | "history" }
  | { doing: "save"; messages: readonly Message[] };

/** Options of both the middleware and the step. */
export type MemoryOptions = {
  /** The client; its token may read the user's memory, and write it where turns are saved. */
  memory: Pick<Cairn, "context" | "threads" | "later">;
  /** The user whose memory is read and written. */
  user: string;
  /** A thread's id, or the agent with whom the user's latest thread is. It keeps each turn's block. */
  thread?: ThreadOption;
  /** Options of the context; `false` adds no memory to prompts. */
  context?: ContextOptions | false;
  /** The timeout of each memory call, in milliseconds; 5,000 unless set. */
  timeoutMs?: number;
  /** Fails the model's call if memory fails; false unless set. */
  strict?: boolean;
  /** Receives each failure that broke nothing; `console.error` unless set. A returned promise is not awaited. */
  onError?: (error: unknown, failure: MemoryFailure) => unknown;
};

const TIMEOUT_MS = 5_000;

/**
 * Runs a memory call. Throws a failure if `strict`; else reports it to `onError` and returns `otherwise`. Always throws
 * if the caller's own signal aborted.
 */
export async function guarded<T>(
  { timeoutMs = TIMEOUT_MS, strict = false, onError = logged }: MemoryOptions,
  work: (signal: AbortSignal) => Promise<T>,
  {
    otherwise,
    failure,
    ended,
  }: { otherwise: T; failure: () => MemoryFailure; ended?: AbortSignal | undefined },
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  // Outside the `try`: a runtime without `AbortSignal.any` must fail visibly.
  const signal = ended === undefined ? timeout : AbortSignal.any([timeout, ended]);
  try {
    return await work(signal);
  } catch (error) {
    if (strict || ended?.aborted === true) throw error;
    tell(onError, error, failure());
    return otherwise;
  }
}

/** `onError` may throw or reject; that breaks no answer. */
function tell(onError: NonNullable<MemoryOptions["onError"]>, error: unknown, failure: MemoryFailure): void {
  const telling = async () => onError(error, failure);
  telling().catch((worse: unknown) => console.error("onError of Cairn's memory failed", worse, "of", error));
}

const logged = (error: unknown, { doing }: MemoryFailure): void =>
  console.error(`Cairn could not be used (${doing})`, error);
