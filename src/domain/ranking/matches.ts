import { otherForms } from "../language/recall-words.ts";
import { distinctPieces, rarityOf, rarityOfAll, type WordStatistics } from "./lexicon.ts";
import { type Passage, passagesOf } from "./passages.ts";
import { contentWords } from "./question.ts";

/** A question of more pieces than this is compared by its first ones: each costs a look at all words of the pool. */
const MOST_PIECES = 64;
/** Pieces with a greater cosine are the same piece. */
export const SAME = 0.999;

/** A piece of the question: the word it is of, its length as the model has it, and its cosine with the nearest piece of each text. */
export type PieceMatch = {
  word: string;
  length: number;
  /** Its part of the whole question, which a match reaches at most. */
  share: number;
  own: Float32Array;
};
type Pieces = { pieces: Uint16Array };

/** The parts of a question that a text says in similar and in equal words, 0 to 1. */
export type Match = { soft: number; exact: number };

/** The match of a text with a question, by a cosine of each of its pieces. */
export function matchOf<Piece extends PieceMatch>(
  pieces: readonly Piece[],
  cosineOf: (piece: Piece) => number | undefined,
): Match {
  let [soft, exact] = [0, 0];
  for (const piece of pieces) {
    const cosine = cosineOf(piece) ?? 0;
    soft += piece.share * cosine;
    if (cosine > SAME) exact += piece.share;
  }
  return { soft, exact };
}

/** The passage of a text that says most of a question, and its match. */
export type PassageMatch = Match & { passage: Passage };

/** The best passage of each text; the first of several. */
export function passageMatches(
  question: string,
  texts: readonly string[],
  words: WordStatistics,
): PassageMatch[] {
  const passages = texts.flatMap((text, k) =>
    passagesOf(text).map((passage) => ({
      k,
      passage,
      pieces: distinctPieces(words.lexicon, text.slice(passage.start, passage.end)),
    })),
  );
  const pieces = pieceMatches(question, passages, words);
  const best: PassageMatch[] = [];
  for (const [i, { k, passage }] of passages.entries()) {
    const match = matchOf(pieces, ({ own }) => own[i]);
    if (match.soft > (best[k]?.soft ?? -1)) best[k] = { passage, ...match };
  }
  return best;
}

/**
 * For each piece of the question, the most similar piece of each text, by how rare and telling the question's is: "late
 * interaction" over a static word model. The forms of one irregular verb are one piece.
 */
export function pieceMatches(
  question: string,
  texts: readonly Pieces[],
  words: WordStatistics,
): PieceMatch[] {
  const { lexicon } = words;
  const wordOf = new Map<number, string>();
  for (const word of contentWords(question))
    for (const piece of lexicon.pieces(word))
      if (wordOf.size < MOST_PIECES && !wordOf.has(piece)) wordOf.set(piece, word);
  const whole = rarityOfAll([...wordOf.keys()], words);
  const vocabulary = vocabularyOf(texts, lexicon.size);
  const similar = lexicon.compare([...wordOf.keys()], vocabulary.pieces);
  const matches = Array.from(wordOf, ([piece, word], i): PieceMatch => {
    const ofVocabulary = similar[i] ?? new Float32Array();
    for (const form of otherForms.get(word) ?? []) {
      const [one = 0, ...rest] = lexicon.pieces(form);
      const at = rest.length === 0 ? vocabulary.pieces.indexOf(one) : -1;
      if (at >= 0) ofVocabulary[at] = 1;
    }
    const own = mostOfEach(ofVocabulary, vocabulary);
    return { word, length: lexicon.length(piece), share: rarityOf(piece, words) / whole, own };
  });
  const numbers = matches.filter(({ word }) => /\p{N}/u.test(word));
  for (const pieces of Map.groupBy(numbers, ({ word }) => word).values()) keepWhole(pieces);
  return matches;
}

/** A text has a number or has it not: 2027 shares a piece with 2022, and is near it in the model. */
function keepWhole(ofNumber: readonly PieceMatch[]): void {
  for (const text of ofNumber[0]?.own.keys() ?? [])
    if (ofNumber.some(({ own }) => (own[text] ?? 0) <= SAME)) for (const { own } of ofNumber) own[text] = 0;
}

/**
 * The distinct pieces of texts, and where those of each text are among them: `places` of text i are those from `starts[i]` to
 * `starts[i + 1]`. Typed and in one row, for each piece of the question looks at all of them.
 */
type Vocabulary = { pieces: number[]; places: Uint16Array; starts: Uint32Array };

function vocabularyOf(texts: readonly Pieces[], size: number): Vocabulary {
  const vocabulary: number[] = [];
  const placeOf = new Uint16Array(size);
  const places = new Uint16Array(texts.reduce((sum, { pieces }) => sum + pieces.length, 0));
  const starts = new Uint32Array(texts.length + 1);
  let end = 0;
  for (const [i, { pieces }] of texts.entries()) {
    for (const piece of pieces) places[end++] = (placeOf[piece] ||= vocabulary.push(piece)) - 1;
    starts[i + 1] = end;
  }
  return { pieces: vocabulary, places, starts };
}

/** The greatest value of each text among those of the vocabulary. */
function mostOfEach(values: Float32Array, { places, starts }: Vocabulary): Float32Array {
  const most = new Float32Array(starts.length - 1);
  for (let text = 0; text < most.length; text++) {
    let greatest = 0;
    for (let at = starts[text] ?? 0; at < (starts[text + 1] ?? 0); at++)
      greatest = Math.max(greatest, values[places[at] ?? 0] ?? 0);
    most[text] = greatest;
  }
  return most;
}

/** The share of a question that is this name, 0 to 1: its words weigh by how rare and telling they are. */
export function shareOf(name: string, question: string, words: WordStatistics | null): number {
  const ofName = new Set(contentWords(name));
  const questionWords = contentWords(question);
  const weight = (word: string): number =>
    words === null ? 1 : rarityOfAll(words.lexicon.pieces(word), words) || 1;
  const sum = (some: readonly string[]) => some.reduce((all, word) => all + weight(word), 0);
  // A name of stop words alone has a share only of a question of stop words alone.
  return sum(questionWords.filter((word) => ofName.has(word))) / Math.max(sum(questionWords), Number.EPSILON);
}
