/** Marks and space, which mean nothing beside a word. */
const MARK = String.raw`[\p{P}\s<>=|~^\x60\p{Cf}]`;
/** Some marks before a word belong to it: `.NET`, `@ann`, `#tag`, `$5`, `-3`. */
const BEFORE = new RegExp(String.raw`^${MARK}*?(?=(?<!\p{P})[@#.+-][\p{L}\p{N}]|(?!${MARK}).|$)`, "su");
/** And some after it: `C++`, `C#`, `5%`. */
const AFTER = new RegExp(String.raw`(?:(?<=[\p{L}\p{N}])([+#%]{1,2})|(?<!${MARK}))${MARK}*$`, "u");
/** Where words end: at space, and at the marks of scripts without it. */
const GAP = /[\s\u3000-\u303f\uff01-\uff0f\uff1a-\uff20\u2013\u2014\u2026]+/u;

/** Between two sentences: a mark may be followed by what closes around it. Scripts without spaces have none behind their marks. */
const BETWEEN = /(?<=[.!?…؟।][\p{Pe}\p{Pf}"']{0,3})\s+|(?<=[。！？])|\n+/u;

/** The sentences and lines of a text. */
export const sentencesOf = (text: string): string[] => text.split(BETWEEN);

/** A text without the marks around it. */
export const withoutMarksAround = (text: string): string => text.replace(BEFORE, "").replace(AFTER, "$1");

/** The words of a text, each without the marks around it: a static model takes a mark for a word. */
export const wordsWithoutMarks = (text: string): string =>
  text
    .split(GAP)
    .map(withoutMarksAround)
    .filter((word) => word !== "")
    .join(" ");
