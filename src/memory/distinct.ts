import { normalise } from "./normalise.ts";

/** Of several of one kind that say the same, the first; `said` answers undefined for what says nothing. */
export function distinctBy<T>(
  all: readonly T[],
  said: (one: T) => { kind: string; text: string } | undefined,
): T[] {
  const known = new Set<string>();
  return all.filter((one) => {
    const { kind, text } = said(one) ?? { kind: "", text: "" };
    const words = `${kind} ${normalise(text)}`;
    if (known.has(words)) return false;
    known.add(words);
    return true;
  });
}
