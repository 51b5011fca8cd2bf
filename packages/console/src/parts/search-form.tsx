import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";

type Props = {
  /** What one types, for who does not see the placeholder. */
  label: string;
  placeholder?: string;
  /** What is searched for now. */
  value: string;
  search: (text: string) => void;
  action: string;
  /** The action is the main one of the page. */
  main?: boolean;
  children?: ComponentChildren;
};

/** One line to search by. It searches when it is sent, and not while somebody types. */
export function SearchForm({
  label,
  placeholder = label,
  value,
  search,
  action,
  main = false,
  children,
}: Props) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  return (
    <form
      class="bar"
      onSubmit={(event) => {
        event.preventDefault();
        search(text);
      }}
    >
      <input
        type="search"
        class="grow"
        aria-label={label}
        placeholder={placeholder}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      {children}
      <button type="submit" class={main ? "main" : ""}>
        {action}
      </button>
    </form>
  );
}
