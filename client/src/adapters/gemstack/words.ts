/** Whether there is anything to search by. */
export const hasWords = (query: string): boolean => /[\p{L}\p{N}]/u.test(query);

/** Whether one of the texts holds a word of the query, whatever their case. */
export function sharesWord(query: string, texts: readonly string[]): boolean {
  const asked = new Set(wordsOf(query));
  return texts.some((text) => wordsOf(text).some((word) => asked.has(word)));
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
