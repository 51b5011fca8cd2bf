/** Row numbers of the vocabulary, by token; a piece inside a word carries `##`. */
export type Vocabulary = ReadonlyMap<string, number>;

const LONGEST_WORD = 100;
const WORD =
  /[\p{P}$+<=>^`|~]|[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2fa1f}]|[^\s\p{P}$+<=>^`|~\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\u{20000}-\u{2fa1f}]+/gu;

/** The vocabulary's rows for `text`, by BERT's uncased WordPiece. A word with an unknown part gives none. */
export function wordPieces(text: string, vocabulary: Vocabulary): number[] {
  const plain = text
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[^\P{C}\s]/gu, "");
  const rows: number[] = [];
  for (const [word] of plain.matchAll(WORD)) rows.push(...cut(word, vocabulary));
  return rows;
}

/** The longest pieces from the left; none if any rest is unknown. */
function cut(word: string, vocabulary: Vocabulary): number[] {
  if (word.length > LONGEST_WORD) return [];
  const rows: number[] = [];
  for (let start = 0; start < word.length;) {
    const prefix = start === 0 ? "" : "##";
    let end = word.length;
    let row = vocabulary.get(prefix + word.slice(start, end));
    while (row === undefined && end > start + 1) {
      end--;
      row = vocabulary.get(prefix + word.slice(start, end));
    }
    if (row === undefined) return [];
    rows.push(row);
    start = end;
  }
  return rows;
}
