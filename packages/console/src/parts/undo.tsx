import { type ComponentChildren, createContext } from "preact";
import { useCallback, useContext, useEffect, useRef, useState } from "preact/hooks";
import { Failure } from "./failure.tsx";

/** `what`: said of it while it waits, as “Forgetting “…””. `act` is called after the time to undo it. */
type Pending = { id: number; what: string; act: () => Promise<unknown>; undone?: (() => void) | undefined };
type Undo = (what: string, act: () => Promise<unknown>, undone?: () => void) => void;

/** Time to undo, in milliseconds. */
const WAIT_MS = 6_000;
const Current = createContext<Undo>(() => {});
export const useUndo = (): Undo => useContext(Current);

/** Delays what cannot be taken back, and shows it with a button that undoes it. Leaving the page undoes it too. */
export function UndoProvider({ children }: { children: ComponentChildren }) {
  const [pending, setPending] = useState<Pending[]>([]);
  const [error, setError] = useState<unknown>(null);
  const next = useRef(0);
  const undo = useCallback<Undo>((what, act, undone) => {
    setPending((before) => [...before, { id: next.current++, what, act, undone }]);
  }, []);
  const drop = useCallback((id: number) => setPending((all) => all.filter((one) => one.id !== id)), []);
  const send = useCallback(
    (one: Pending) => {
      drop(one.id);
      one.act().catch((failure: unknown) => {
        one.undone?.();
        setError(failure);
      });
    },
    [drop],
  );
  return (
    <Current.Provider value={undo}>
      {children}
      <div class="toasts" aria-live="polite">
        {pending.map((one) => (
          <Toast key={one.id} of={one} send={() => send(one)} undo={() => (one.undone?.(), drop(one.id))} />
        ))}
        {error !== null && (
          <div class="toast">
            <Failure error={error} />
            <button type="button" onClick={() => setError(null)}>
              Close
            </button>
          </div>
        )}
      </div>
    </Current.Provider>
  );
}

function Toast({ of: { what }, send, undo }: { of: Pending; send: () => void; undo: () => void }) {
  const latest = useRef(send);
  latest.current = send;
  useEffect(() => {
    const timer = setTimeout(() => latest.current(), WAIT_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class="toast">
      <span>{what} …</span>
      <button type="button" onClick={undo}>
        Undo
      </button>
      <button type="button" class="quiet" onClick={send}>
        Now
      </button>
    </div>
  );
}
