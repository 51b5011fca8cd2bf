/** The numbers of one word: fixed, and unlike those of another word. */
const words = new Map<string, Float64Array>();

/** A model for doubles: the sum of its words' numbers, not of length 1. No words, or too many: it fails, as a service does. */
export function bagOfWords(text: string, { dimensions, tokens }: { dimensions: number; tokens: number }) {
  const found = text.toLowerCase().match(/\w+|[^\w\s]/g) ?? [];
  if (text === "") throw new Error("5006: an empty text");
  if (found.length > tokens) throw new Error(`5021: ${found.length} tokens exceed the context of ${tokens}`);
  const sum = new Float64Array(dimensions);
  for (const word of found) {
    const of = numbersOf(word, dimensions);
    for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (of[i] ?? 0);
  }
  return Array.from(sum);
}

function numbersOf(word: string, dimensions: number): Float64Array {
  const key = `${word} ${dimensions}`;
  const known = words.get(key);
  if (known !== undefined) return known;
  let seed = 1;
  for (const character of word) seed = (seed * 31 + (character.codePointAt(0) ?? 0)) % 100_003;
  const numbers = Float64Array.from({ length: dimensions }, (_, i) => Math.sin(seed * (i + 1)));
  words.set(key, numbers);
  return numbers;
}
