import { normalise } from "./normalise.ts";

/** Of several of one kind that say the same, the first; so many at most. */
export function distinctBy<T>(
  all: Iterable<T>,
  said: (one: T) => { kind: string; text: string },
  most = Infinity,
): T[] {
  const distinct = new Map<string, T>();
  for (const one of all) {
    if (distinct.size === most) break;
    const { kind, text } = said(one);
    const words = `${kind} ${normalise(text)}`;
    if (!distinct.has(words)) distinct.set(words, one);
  }
  return [...distinct.values()];
}
