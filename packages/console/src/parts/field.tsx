import type { InputHTMLAttributes } from "preact";
import { useState } from "preact/hooks";

type Props = Pick<InputHTMLAttributes, "class" | "aria-label" | "placeholder" | "min" | "max" | "step"> & {
  type: "datetime-local" | "number" | "search";
  /** The page's value. It is shown unless somebody types. */
  value: string | number | undefined;
  change: (field: HTMLInputElement) => void;
};

/**
 * A field that reports its value when it is complete: at Enter, or when it is left. Until then it keeps the typed text itself, as a
 * page that is rendered meanwhile would put its former value back.
 */
export function Field({ value = "", change, ...input }: Props) {
  const [typed, setTyped] = useState<string>();
  return (
    <input
      // Preact types an input by its `type`: a union of types fits none of them.
      {...(input as InputHTMLAttributes)}
      value={typed ?? value}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={({ currentTarget }) => {
        change(currentTarget);
        setTyped(undefined);
      }}
      onBlur={() => setTyped(undefined)}
    />
  );
}
