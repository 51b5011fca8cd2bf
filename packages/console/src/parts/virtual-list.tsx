import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import type { ComponentChildren } from "preact";
import { useEffect, useReducer, useRef } from "preact/hooks";

type Props = {
  count: number;
  /** Pixels of a row before it is measured. */
  estimate: number;
  row: (index: number) => ComponentChildren;
  label: string;
  /** The row to show first, and again whenever its key is another one. */
  goal?: { key: string | number; index: number } | undefined;
  /** Called with the rows that are shown. */
  onShow?: ((first: number, last: number) => void) | undefined;
};

/** A list of any length, of which only what is seen is in the document. */
export function VirtualList({ count, estimate, row, label, goal, onShow }: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const [, render] = useReducer<number, void>((n) => n + 1, 0);
  const list = useRef<Virtualizer<HTMLDivElement, HTMLDivElement> | null>(null);
  const options = {
    count,
    estimateSize: () => estimate,
    getScrollElement: () => scroller.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    overscan: 6,
    onChange: () => render(),
  };
  list.current ??= new Virtualizer(options);
  const virtualizer = list.current;
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), [virtualizer]);
  useEffect(() => virtualizer._willUpdate());
  // Rows change their height when they are measured and when they load: the wanted one stays in view until somebody scrolls.
  const moved = useRef(false);
  useEffect(() => {
    moved.current = false;
  }, [goal?.key]);
  const size = virtualizer.getTotalSize();
  useEffect(() => {
    if (goal !== undefined && goal.index >= 0 && goal.index < count && !moved.current)
      virtualizer.scrollToIndex(goal.index, { align: "center" });
  }, [goal?.key, goal?.index, count > 0, size]);
  const onMove = () => {
    moved.current = true;
  };
  const onKey = (event: KeyboardEvent) => {
    onMove();
    // The browser scrolls there step by step, which rows that are measured on the way stop.
    const end = event.key === "Home" ? 0 : event.key === "End" ? count - 1 : null;
    if (end === null || event.target !== scroller.current) return;
    event.preventDefault();
    virtualizer.scrollToIndex(end);
  };
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? -1];
  useEffect(() => onShow?.(first, last), [first, last, onShow]);
  return (
    <div
      ref={scroller}
      class="scroller"
      role="feed"
      aria-label={label}
      tabIndex={0}
      onWheel={onMove}
      onPointerDown={onMove}
      onKeyDown={onKey}
    >
      <div class="virtual" style={{ height: `${size}px` }}>
        {items.map(({ index, start, key }) => (
          <div
            key={key}
            data-index={index}
            ref={(element) => virtualizer.measureElement(element)}
            class="virtual-row"
            role="article"
            aria-posinset={index + 1}
            aria-setsize={count}
            style={{ transform: `translateY(${start}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
