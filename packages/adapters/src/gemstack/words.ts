/** True if the query has a letter or digit. */
export const hasWords = (query: string): boolean => /[\p{L}\p{N}]/u.test(query);

/** True if a text holds a word of the query; ignores case. */
export function sharesWord(query: string, texts: readonly string[]): boolean {
  const asked = new Set(wordsOf(query));
  return texts.some((text) => wordsOf(text).some((word) => asked.has(word)));
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
