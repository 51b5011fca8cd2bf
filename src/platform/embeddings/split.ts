import { estimatedTokens } from "./tokens.ts";

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });
const words = new Intl.Segmenter("en", { granularity: "word" });

/**
 * Splits a text into pieces of at most `limit` tokens (at least 4, the most of one character). It splits between
 * sentences, else between words, else inside a word.
 */
export function split(text: string, limit: number): string[] {
  if (estimatedTokens(text) <= limit) return [text];
  const packed = packer(limit);
  return packed(segments(sentences, text), (sentence) =>
    packed(segments(words, sentence), (word) => packed(word, (character) => [character])),
  );
}

/** Joins parts while they fit, and splits a part that is too large. */
const packer =
  (limit: number) =>
  (parts: Iterable<string>, smaller: (part: string) => string[]): string[] => {
    const pieces: string[] = [];
    let piece = "";
    let size = 0;
    const close = () => {
      if (piece !== "") pieces.push(piece);
      [piece, size] = ["", 0];
    };
    for (const part of parts) {
      const tokens = estimatedTokens(part);
      if (size + tokens > limit) close();
      if (tokens > limit) pieces.push(...smaller(part));
      else [piece, size] = [piece + part, size + tokens];
    }
    close();
    return pieces;
  };

function* segments(segmenter: Intl.Segmenter, text: string): Generator<string> {
  for (const { segment } of segmenter.segment(text)) yield segment;
}
