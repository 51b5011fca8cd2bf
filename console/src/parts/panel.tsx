import type { ComponentChildren } from "preact";

/** One of a list, beside it. */
export const Panel = ({
  title,
  close,
  children,
}: {
  title: string;
  close: () => void;
  children: ComponentChildren;
}) => (
  <aside aria-label={title}>
    <div class="bar">
      <h2>{title}</h2>
      <button type="button" class="quiet" onClick={close}>
        Close
      </button>
    </div>
    {children}
  </aside>
);
