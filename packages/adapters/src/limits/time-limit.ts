import { unlessAborted } from "../../../client/src/attempt.ts";
import type { Cairn } from "../../../client/src/cairn.ts";
import { timeoutError } from "../../../client/src/error.ts";
import { realTime } from "../../../client/src/retry.ts";

/** The limit of an adapter's memory work, which each adapter takes. */
export type TimeLimit = {
  /** The longest time for the memory work before a model's call, or for a method of a store, in milliseconds; 3,000 unless set. */
  timeoutMs?: number | undefined;
};

export const TIMEOUT_MS = 3_000;
/** The longest delay of a timer. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;

/**
 * The outcome of work, whatever number of calls it makes; rejects with `timeout` at the limit, and with the reason of
 * `ended` if that aborts first. The signal ends the calls, and nobody waits for what ignores it.
 */
export function withinLimit<T>(
  { timeoutMs = TIMEOUT_MS }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
  ended?: AbortSignal,
): Promise<T> {
  const limit = new AbortController();
  // A runtime without `AbortSignal.any` throws here, and no caller takes that for an outage.
  const signal = ended === undefined ? limit.signal : AbortSignal.any([limit.signal, ended]);
  const cancel = realTime.after(timeoutMs, () => limit.abort(timeoutError(timeoutMs)));
  const begun = async () => work(signal);
  return unlessAborted(signal, begun()).finally(cancel);
}

/**
 * Runs a method of a store, whose calls to Cairn share one limit. Its client ends with the limit, so nothing is sent
 * after it.
 */
export function withinMethod<T, M extends object>(
  options: TimeLimit & { memory: M },
  work: (memory: M, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const memory = limited(options.memory, options);
  return withinLimit(options, async (signal) =>
    // A double may have some of the client's methods only; of a client, its own limited one has them all.
    work("until" in memory ? ((memory as unknown as Cairn).until(signal) as unknown as M) : memory, signal),
  );
}

/**
 * Gives each of these methods of a store one limit (`withinMethod`). A method runs on a copy of the store, so methods that
 * run at the same time do not share a limit. `own` is the prototype of the store's class; unless set, the store is a plain
 * object. The copy is of that class, so a limited method calls none of a subclass's overrides: a store is to be wrapped. An
 * override itself runs on the store, and what it calls by `super` has the limit for each call to Cairn only.
 */
export function limitMethods<S extends object, M extends object>(
  store: S,
  names: readonly MethodOf<S>[],
  options: TimeLimit & { memory: M },
  copy: (memory: M, limit: AbortSignal) => S,
  own: object = store,
): S {
  const isPlain = own === store;
  for (const name of names) {
    // `MethodOf` says that it is one.
    const method = Reflect.get(own, name) as Method;
    if (Reflect.get(store, name) !== method) continue;
    // Keyv knows a store of promises by its async functions.
    const value: Method = async (...given) =>
      withinMethod(options, (memory, signal) => {
        const copied = copy(memory, signal);
        return Reflect.apply(isPlain ? (Reflect.get(copied, name) as Method) : method, copied, given);
      });
    Object.defineProperty(store, name, { value, configurable: true, enumerable: isPlain, writable: true });
  }
  return store;
}

type Method = (...given: unknown[]) => Promise<unknown>;

/** The names of methods; one that is named returns a promise from then on. */
type MethodOf<S> = string &
  { [K in keyof S]: S[K] extends (...given: never[]) => unknown ? K : never }[keyof S];

/** The client of a store: each of its calls ends within the limit, with its retries. */
export function limited<M extends object>(memory: M, { timeoutMs = TIMEOUT_MS }: TimeLimit): M {
  // A double may have some of the client's methods only; of a client, its own limited one has them all.
  return "within" in memory ? ((memory as unknown as Cairn).within(timeoutMs) as unknown as M) : memory;
}
