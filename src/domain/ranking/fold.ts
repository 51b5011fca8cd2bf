/** Letters that Unicode does not decompose, as people type them who do not have them on their keyboard. */
const LETTERS: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ħ: "h",
  ŧ: "t",
  ı: "i",
  ĸ: "k",
  ŋ: "n",
  ς: "σ",
};
const SPECIAL = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");

/**
 * Marks of Latin, Greek and Cyrillic letters, points of Hebrew and Arabic, the tatweel, and characters that only format. The
 * signs of other scripts (Devanagari's vowels, the voicing of kana) make another letter and stay.
 */
const MARKS = new RegExp(
  `[${[
    "\\u0300-\\u036f",
    "\\u0591-\\u05bd\\u05bf\\u05c1\\u05c2\\u05c4\\u05c5\\u05c7",
    "\\u0610-\\u061a\\u0640\\u064b-\\u065f\\u0670\\u06d6-\\u06dc\\u06df-\\u06e8\\u06ea-\\u06ed",
  ].join("")}]|\\p{Cf}`,
  "gu",
);
const ASCII = /^[\0-\u007f]*$/;

/** A text for the comparison of words: in lower case, and without marks that people leave out (`Łukasz`, `Lukasz`). */
export function folded(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(MARKS, "")
    .replaceAll(SPECIAL, (letter) => LETTERS[letter] ?? letter)
    .normalize("NFC");
}
