/** Options for failures of an adapter's memory calls; `Failure` names the operation. */
export type GuardOptions<Failure extends { doing: string } = ContextFailure> = {
  /** The timeout of each memory call, in milliseconds; 5,000 unless set. */
  timeoutMs?: number;
  /** Fails the model's call if memory fails; false unless set. */
  strict?: boolean;
  /** Receives each failure that broke nothing; `console.error` unless set. A returned promise is not awaited. */
  onError?: (error: unknown, failure: Failure) => unknown;
};

/** The failure of an adapter that only reads contexts. */
export type ContextFailure = { doing: "context" };

const TIMEOUT_MS = 5_000;

/**
 * Runs a memory call. Throws a failure if `strict`; else reports it to `onError` and returns `otherwise`. Always throws
 * if the caller's own signal aborted.
 */
export async function guarded<T, Failure extends { doing: string }>(
  { timeoutMs = TIMEOUT_MS, strict = false, onError = logged }: GuardOptions<Failure>,
  work: (signal: AbortSignal) => Promise<T>,
  { otherwise, failure, ended }: { otherwise: T; failure: () => Failure; ended?: AbortSignal | undefined },
): Promise<T> {
  const timeout = AbortSignal.timeout(timeoutMs);
  // Outside the `try`: a runtime without `AbortSignal.any` must fail visibly.
  const signal = ended === undefined ? timeout : AbortSignal.any([timeout, ended]);
  try {
    return await work(signal);
  } catch (error) {
    if (strict || ended?.aborted === true) throw error;
    // `onError` may throw or reject; that breaks no answer.
    const telling = async () => onError(error, failure());
    telling().catch((worse: unknown) =>
      console.error("onError of Cairn's memory failed", worse, "of", error),
    );
    return otherwise;
  }
}

const logged = (error: unknown, { doing }: { doing: string }): void =>
  console.error(`Cairn could not be used (${doing})`, error);
