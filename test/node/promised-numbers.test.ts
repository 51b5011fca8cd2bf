// Each number that these pages promise is the one of the code, and no number of theirs is unknown here.
import { describe, expect, it } from "vitest";
import { type Exempt, pages, read } from "./promised-numbers.ts";

const WORDS: Record<string, number> = {
  a: 1,
  an: 1,
  minute: 1,
  once: 1,
  half: 0.5,
  quarter: 0.25,
  tenth: 0.1,
  ...Object.fromEntries(
    ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"].map((word, i) => [
      word,
      i + 1,
    ]),
  ),
};
const numberOf = (text: string): number => WORDS[text.toLowerCase()] ?? Number(text.replaceAll(",", ""));

/** Each paragraph and each row of a table as one line. */
const flat = (text: string): string =>
  `\n${text
    .split(/\n\s*\n|\n(?=\|)/)
    .map((line) => line.replaceAll(/\s+/g, " "))
    .join("\n")}`;
/** The page's text; `masked` has dots in place of code and of links' addresses. Both are equally long. */
function textOf(page: string): { whole: string; masked: string } {
  const prose = read(page).replaceAll(/^```[^]*?^```/gm, "");
  const dots = (text: string) => text.replaceAll(/\S/g, "·");
  const masked = prose
    .replaceAll(/`[^`]*`/g, dots)
    // The numbers of a list, and examples.
    .replaceAll(/^\d+\./gm, dots)
    .replaceAll(/"[^"\n]*"/g, dots)
    .replaceAll(/\]\([^)]*\)/g, dots);
  return { whole: flat(prose), masked: flat(masked) };
}

type Range = [from: number, to: number];
/** Finds the place where a page says this; fails unless that is one. */
function placeOf(whole: string, says: string): Range {
  const from = whole.indexOf(says);
  expect(from, `the page says: ${says}`).toBeGreaterThanOrEqual(0);
  expect(whole.indexOf(says, from + 1), `the page says it once: ${says}`).toBe(-1);
  return [from, from + says.length];
}

function exemptRange(whole: string, exempt: Exempt): Range {
  if ("says" in exempt) return placeOf(whole, exempt.says);
  const begin = "row" in exempt ? `\n| ${exempt.row} |` : `\n${exempt.section}\n`;
  const [from, to] = placeOf(whole, begin);
  const end = whole.indexOf("row" in exempt ? "\n" : `\n${exempt.section.split(" ")[0]} `, to - 1);
  return [from, end < 0 ? whole.length : end];
}

describe.each(Object.entries(pages))("%s", (page, { promised, exempt }) => {
  const { whole, masked } = textOf(page);

  it.each(promised)("promises what the code does: $says", ({ says, are }) => {
    placeOf(whole, says.replaceAll(/[{}]/g, ""));
    const numbers = Array.from(says.matchAll(/\{([^}]+)\}/g), ([, number = ""]) => numberOf(number));
    expect(numbers).toEqual(are);
  });

  it("has no number that is neither a promise of the table nor an exemption", () => {
    const ranges = [
      ...promised.map(({ says }) => placeOf(whole, says.replaceAll(/[{}]/g, ""))),
      ...exempt.map((one) => exemptRange(whole, one)),
    ];
    const unknown = Array.from(masked.matchAll(/(?<![\p{L}\d,.]-?)\d[\d,.]*/gu), ({ index }) => index)
      .filter((index) => !ranges.some(([from, to]) => from <= index && index < to))
      .map((index) => whole.slice(Math.max(0, index - 40), index + 40));
    expect(unknown).toEqual([]);
  });
});
