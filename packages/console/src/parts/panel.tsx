import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Acting } from "./load.ts";

/** One of a list, beside it. It stays open while something in it is being stored: a failure would be lost with it. */
export function Panel({
  title,
  close,
  children,
}: {
  title: string;
  close: () => void;
  children: ComponentChildren;
}) {
  const [acts, setActs] = useState(0);
  return (
    <aside aria-label={title}>
      <div class="bar">
        <h2>{title}</h2>
        <button type="button" class="quiet" disabled={acts > 0} onClick={close}>
          Close
        </button>
      </div>
      <Acting.Provider value={setActs}>{children}</Acting.Provider>
    </aside>
  );
}
