import { type TimeLimit, withinLimit } from "../limits/time-limit.ts";

/** Options for failures of an adapter's memory calls; `Failure` names the operation. */
export type GuardOptions<Failure extends { doing: string } = ContextFailure> = TimeLimit & {
  /** Fails the model's call if memory fails; false unless set. */
  strict?: boolean;
  /** Receives each failure that broke nothing; `console.error` unless set. A returned promise is not awaited. */
  onError?: (error: unknown, failure: Failure) => unknown;
};

/** The failure of an adapter that only reads contexts. */
export type ContextFailure = { doing: "context" };

type Guarded<T, Failure> = {
  otherwise: T;
  failure: () => Failure;
  /** The caller's own signal. */
  ended?: AbortSignal | undefined;
};

/**
 * Runs memory work within its limit. Throws a failure if `strict`; else reports it to `onError` and returns `otherwise`. Always throws
 * if the caller's own signal aborted.
 */
export async function guarded<T, Failure extends { doing: string }>(
  { timeoutMs, strict = false, onError = logged }: GuardOptions<Failure>,
  work: (signal: AbortSignal) => Promise<T>,
  { otherwise, failure, ended }: Guarded<T, Failure>,
): Promise<T> {
  const done = withinLimit({ timeoutMs }, work, ended);
  try {
    return await done;
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
