import type { Vocabulary } from "./vocabulary.ts";

const WORD =
  /[\p{P}$+<=>^`|~]|[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2fa1f}]|[^\s\p{P}$+<=>^`|~\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2fa1f}]+/gu;

/** The vocabulary's rows for `text`, by BERT's uncased WordPiece. A word with an unknown part gives none. */
export function wordPieces(text: string, vocabulary: Vocabulary): number[] {
  const plain = text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[^\P{C}\s]/gu, "");
  return [...plain.matchAll(WORD)].flatMap(([word]) => vocabulary.cut(word));
}
