import { useState } from "preact/hooks";

/** A text to copy, with a button that does. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setDone(true);
    setTimeout(() => setDone(false), 1_500);
  };
  return (
    <details class="copy">
      <summary>{label}</summary>
      <pre tabIndex={0}>{text}</pre>
      <button type="button" onClick={() => void copy()}>
        {done ? "Copied" : "Copy"}
      </button>
    </details>
  );
}
