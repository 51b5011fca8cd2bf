import { createContext } from "preact";
import { type StateUpdater, useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";

/** What is loaded, or why it is not. `value` stays while it is loaded again. */
export type Loaded<T> = { value: T | undefined; error: unknown; loading: boolean; reload: () => void };

/**
 * Loads when the page is shown, and again when one of `inputs` changes. A later load cancels the one before. `keep`: the former value
 * stays until the new one is there.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[],
  { keep = false } = {},
): Loaded<T> {
  const [state, setState] = useState<Omit<Loaded<T>, "reload">>({
    value: undefined,
    error: null,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  const key = JSON.stringify(inputs);
  const shown = useRef(key);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const controller = new AbortController();
    const isOther = !keep && shown.current !== key;
    shown.current = key;
    setState(({ value }) => ({ value: isOther ? undefined : value, error: null, loading: true }));
    latest.current(controller.signal).then(
      (value) => !controller.signal.aborted && setState({ value, error: null, loading: false }),
      (error: unknown) =>
        !controller.signal.aborted && setState(({ value }) => ({ value, error, loading: false })),
    );
    return () => controller.abort();
  }, [key, turn]);
  return { ...state, reload: useCallback(() => setTurn((before) => before + 1), []) };
}

type Page<T> = { items: T[]; cursor?: string | undefined };
export type Pages<T> = Loaded<T[]> & { hasMore: boolean; more: () => void };

/** Loads a list page by page: the first one at once, the others by `more`. */
export function usePages<T>(
  load: (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>,
  inputs: readonly unknown[],
): Pages<T> {
  const first = useLoad((signal) => load(undefined, signal), inputs);
  const [rest, setRest] = useState<{ of: Page<T> | undefined; items: T[]; cursor?: string | undefined }>({
    of: undefined,
    items: [],
  });
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const later = rest.of === first.value ? rest : { of: first.value, items: [], cursor: first.value?.cursor };
  const more = () => {
    const of = first.value;
    if (busy || of === undefined || later.cursor === undefined) return;
    setBusy(true);
    setFailure(null);
    load(later.cursor, new AbortController().signal)
      .then(({ items, cursor }) => setRest({ of, items: [...later.items, ...items], cursor }))
      .catch(setFailure)
      .finally(() => setBusy(false));
  };
  return {
    ...first,
    value: first.value && [...first.value.items, ...later.items],
    error: first.error ?? failure,
    loading: first.loading || busy,
    hasMore: later.cursor !== undefined,
    more,
  };
}

/** Counts what is under way within a part of the page. */
export const Acting = createContext<(update: StateUpdater<number>) => void>(() => {});

/** One thing that is done at the user's word: whether it is under way, and how it failed. */
export function useAction(): {
  busy: boolean;
  error: unknown;
  run: (act: () => Promise<unknown>) => Promise<boolean>;
  clear: () => void;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const count = useContext(Acting);
  const run = useCallback(async (act: () => Promise<unknown>) => {
    setBusy(true);
    count((acts) => acts + 1);
    setError(null);
    try {
      await act();
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    } finally {
      setBusy(false);
      count((acts) => acts - 1);
    }
  }, []);
  return { busy, error, run, clear: useCallback(() => setError(null), []) };
}
