/** Letters of words that are looked for without spaces around them: their languages write none, or attach endings. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

export const isUnspaced = (text: string): boolean => UNSPACED.test(text);
