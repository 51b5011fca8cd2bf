import { normalise } from "./normalise.ts";

/** The first of all items with the same kind and text, at most `most` items. */
export function distinctBy<T>(
  all: Iterable<T>,
  contentOf: (one: T) => { kind: string; text: string },
  most = Infinity,
): T[] {
  const distinct = new Map<string, T>();
  for (const one of all) {
    if (distinct.size === most) break;
    const { kind, text } = contentOf(one);
    const words = `${kind} ${normalise(text)}`;
    if (!distinct.has(words)) distinct.set(words, one);
  }
  return [...distinct.values()];
}
