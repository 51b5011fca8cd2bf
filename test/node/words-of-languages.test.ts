import { globSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** Files with names of formats, beginnings of secrets, endings of a stemmer, or texts of prompts, errors and layers. */
const OTHERS = /\/(?:prompts|layers)\/|\/(?:block|secrets|spelling|corrections|rules|versions|merge)\.ts$/u;
/** Comments, and what is no letter of a word in an expression. */
const NO_WORDS = /^\s*(?:\/\*\*|\*|\/\/).*$|\s\/\/ .*$|\\[pP]\{.*?\}|\$\{.*?\}|\\.|\(\?[:=!<]*|[()?]/gmu;
/** Three words in an expression with "|" between them, or in a text of nothing but words. */
const LIST =
  /[a-z' ]{2,}(?:\|(?! )[a-z' ]{2,}){2,}|(?<=["`])(?:\n *)?[a-z']+(?:[ ,\n]+[a-z']+){2,}(?=["`])/giu;

it("keeps the English words of rules in the record of English", () => {
  const files = globSync("src/domain/{ranking,context,memory,ingest}/**/*.ts");
  expect(files.length).toBeGreaterThan(80);
  const lists = files
    .filter((file) => !OTHERS.test(file))
    .flatMap((file) => readFileSync(file, "utf8").replaceAll(NO_WORDS, "").match(LIST) ?? []);
  expect(lists).toEqual([]);
});
