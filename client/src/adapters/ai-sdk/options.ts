import type { Cairn } from "../../cairn.ts";
import type { Message, RecallBody } from "../../shapes.ts";

/** How memories are looked for; `k` is 8 unless set. */
export type RecallOptions = Omit<RecallBody, "query"> & {
  /** Whether what the assistant answered in earlier turns is recalled too; unless set, only what others said. */
  answers?: boolean;
};

/** What could not be done, and the messages that a save would have stored. */
export type MemoryFailure = { doing: "recall" | "history" } | { doing: "save"; messages: readonly Message[] };

/** What middleware and step share. */
export type RecallingOptions = {
  /** The client; its token may read the user's memory, and write it where turns are saved. */
  memory: Pick<Cairn, "recall" | "threads" | "later">;
  /** Whose memory it is. */
  user: string;
  /** How memories are looked for by what the user said last; `false`: not at all. */
  recall?: RecallOptions | false;
  /** The most that is injected of what was recalled, at 4 characters a token; 2,000 unless set. */
  maxTokenBudget?: number;
  /** How long each call of memory may take before it counts as failed, in milliseconds; 5,000 unless set. */
  timeoutMs?: number;
  /** Lets the model's call fail where memory does; unless set, the answer comes without it. */
  strict?: boolean;
  /** Is told of each failure that broke nothing; `console.error` unless set. A promise that it gives is not waited for. */
  onError?: (error: unknown, failure: MemoryFailure) => unknown;
};

const TIMEOUT_MS = 5_000;

/**
 * Runs a call of memory: what fails is thrown if `strict`, else told to `onError`, with `otherwise` in its place. What the
 * caller itself has ended is always thrown.
 */
export async function guarded<T>(
  { timeoutMs = TIMEOUT_MS, strict = false, onError = logged }: RecallingOptions,
  work: (signal: AbortSignal) => Promise<T>,
  {
    otherwise,
    failure,
    ended,
  }: { otherwise: T; failure: () => MemoryFailure; ended?: AbortSignal | undefined },
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  // Not below: where signals cannot be joined, memory would fail call by call, and nobody see why.
  const signal = ended === undefined ? timeout : AbortSignal.any([timeout, ended]);
  try {
    return await work(signal);
  } catch (error) {
    if (strict || ended?.aborted === true) throw error;
    tell(onError, error, failure());
    return otherwise;
  }
}

/** Who is told may fail too, at once or later: that breaks no answer either. */
function tell(
  onError: NonNullable<RecallingOptions["onError"]>,
  error: unknown,
  failure: MemoryFailure,
): void {
  const telling = async () => onError(error, failure);
  telling().catch((worse: unknown) => console.error("onError of Cairn's memory failed", worse, "of", error));
}

const logged = (error: unknown, { doing }: MemoryFailure): void =>
  console.error(`Cairn could not be used (${doing})`, error);
