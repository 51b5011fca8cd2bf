// Queries as people write them: courtesies, punctuation, letters with and without their marks, typos.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutCourtesy } from "../../../src/domain/ranking/courtesy.ts";
import { folded } from "../../../src/domain/ranking/fold.ts";
import { wordsWithoutMarks } from "../../../src/domain/ranking/marks.ts";
import { contentWords, mentions } from "../../../src/domain/ranking/question.ts";
import { corrections, knownCorrection, withCorrections } from "../../../src/domain/ranking/spelling.ts";
import { searchedQuery } from "../../../src/domain/memory/searched-query.ts";
import { anyCharacter } from "../../any-character.ts";

const anyText = fc.string({ unit: anyCharacter, maxLength: 200 });
const words = fc
  .array(fc.constantFrom("deploy", "Lisbon", "C++", "他对什么过敏", "when", "Zoë", "please", "3"), {
    minLength: 1,
  })
  .map((some) => some.join(" "));

describe("the part of a query that asks", () => {
  it.each([
    [
      "Hi there, hope you are well! I was wondering, could you please tell me where I deploy my app? Thanks a lot in advance!",
      "where I deploy my app",
    ],
    ["Do you remember the name of my dentist?", "the name of my dentist"],
    ["Hi Claude, what did I eat? Cheers!", "what did I eat"],
    ["Where do I deploy, please?", "Where do I deploy"],
    ["When, please, please?", "When, please, please"],
    ["Please remind me what I said about C++, if you remember.", "what I said about C++"],
    ["I bet you know this one. Where did Ann park the car?", "Where did Ann park the car"],
    ["Dear Ann,\nI lost my keys\nKind regards", "I lost my keys"],
  ])("of %j is %j", (query, asked) => {
    expect(withoutCourtesy(query)).toBe(asked);
  });
  it.each([
    "I am in Lisbon next week. Which restaurants did we like",
    "It was in March. When was it",
    "I know Anna. Where does she live",
    "Thanks for the dentist you recommended. What was her name",
    "I hope my dog is well. What is his name",
    "Did Melanie ask Caroline for help",
    "What do you remember about Anna",
    "What did I hope for",
    "Hello",
    "Thank you so much",
    "🦒",
    "???",
    "Guten Morgen! Wo wohne ich",
    "Bonjour, pourriez-vous me dire où j'habite, s'il vous plaît",
  ])("of %j is all of it", (query) => {
    expect(withoutCourtesy(query)).toBe(query);
  });
  it("has no word that the query has not, and a telling one if the query has one", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, words), (query) => {
        const [asked, all] = [contentWords(withoutCourtesy(query)), contentWords(query)];
        expect(all).toEqual(expect.arrayContaining(asked));
        expect(asked.length > 0).toBe(all.length > 0);
      }),
    );
  });
  it("is the same with punctuation of any script around it", () => {
    const mark = fc.constantFrom(
      "?",
      "？",
      "!",
      "。",
      "؟",
      "¿",
      "…",
      '"',
      "«",
      "」",
      " ",
      ",",
      "।",
      "::",
      "`",
      "\u200f",
    );
    fc.assert(
      fc.property(words, mark, mark, (query, before, after) => {
        expect(withoutCourtesy(`${before}${query}${after}`)).toBe(withoutCourtesy(query));
      }),
    );
  });
});

describe("a searched query", () => {
  it("is never empty", () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 1, maxLength: 200 }), (query) => {
        expect(searchedQuery(query).query).not.toBe("");
      }),
    );
  });
});

describe("the words without marks", () => {
  it.each([
    ["Where, exactly: in “Lisbon”?", "Where exactly in Lisbon"],
    ["C++, C#, .NET (v1.2) for $5 or 5%?", "C++ C# .NET v1.2 for $5 or 5%"],
    ["@ann #tag ann@example.com https://a.b/c?d=1!", "@ann #tag ann@example.com https://a.b/c?d=1"],
    ["他对什么过敏，请告诉我？", "他对什么过敏 请告诉我"],
    ["... !? —", ""],
  ])("of %j are %j", (text, bare) => {
    expect(wordsWithoutMarks(text)).toBe(bare);
  });
});

describe("a folded text", () => {
  it.each([
    ["Łukasz", "lukasz"],
    ["Søren Ørsted", "soren orsted"],
    ["Đặng Thị", "dang thi"],
    ["Straße, STRASSE", "strasse, strasse"],
    ["Æsir œuvre", "aesir oeuvre"],
    ["Þór Guðrún", "thor gudrun"],
    ["Ħamrun", "hamrun"],
    ["İstanbul, ısı", "istanbul, isi"],
    ["e\u0301", "e"],
    ["Ἀθήνα, Αθήνα", "αθηνα, αθηνα"],
    ["ΟΔΟΣ, οδός", "οδοσ, οδοσ"],
    ["مُحَمَّد", "محمد"],
    ["שָׁלוֹם", "שלום"],
    ["می\u200cخواهم", "میخواهم"],
    ["がぎ한국", "がぎ한국"],
    ["हिन्दी", "हिन्दी"],
    ["Ｌｉｓｂｏｎ", "lisbon"],
  ])("of %j is %j", (text, plain) => {
    expect(folded(text)).toBe(plain);
  });
  it("folds to itself", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(folded(folded(text))).toBe(folded(text));
      }),
    );
  });
  it("holds a name however it is written", () => {
    expect(mentions("did lukasz call?", "Łukasz")).toBe(true);
    expect(mentions("Was Zoe\u0308 here?", "Zoë")).toBe(true);
  });
});

describe("a typo", () => {
  const terms = [
    { term: "restaur", documents: 2 },
    { term: "melani", documents: 3 },
    { term: "volunt", documents: 1 },
    { term: "москв", documents: 1 },
  ];
  /** A model that knows these words. */
  const known = ["restaurant", "melanie", "volunteering", "allergic", "allergy"];
  const pieces = (word: string) =>
    known.includes(word) ? [known.indexOf(word) + 1] : Array.from(word, () => 9);
  const row = (word: string) => (known.includes(word) ? known.indexOf(word) + 1 : undefined);
  it.each([
    ["restuarant", "restaurant"],
    ["restaurnat", "restaurant"],
    ["mleanie", "melanie"],
    ["volunteeering", "volunteering"],
    ["мосвк", "москв"],
  ])("%s is corrected to %s, which a document has", (typo, meant) => {
    expect(corrections(typo, terms, pieces)[0]).toBe(meant);
  });
  it("that is any one edit of a word finds the word", () => {
    const letter = fc.constantFrom(..."abcdefghijklmnopqrstuvwxyz".split(""));
    fc.assert(
      fc.property(
        fc.nat({ max: 9 }),
        letter,
        fc.constantFrom("swap", "drop", "double", "replace"),
        (at, other, kind) => {
          const [before, one, next, after] = [
            "restaurant".slice(0, at),
            "restaurant"[at] ?? "",
            "restaurant"[at + 1] ?? "",
            "restaurant".slice(at + 2),
          ];
          const changed = { swap: next + one, drop: next, double: one + one + next, replace: other + next }[
            kind
          ];
          expect(corrections(`${before}${changed}${after}`, terms, pieces)).toContain("restaurant");
        },
      ),
    );
  });
  it("may be of a word that only the word model knows: the most common one", () => {
    expect(knownCorrection("alergic", { pieces, row })).toBe("allergic");
    expect(knownCorrection("zoltan", { pieces, row })).toBeNull();
    // A right word of two pieces.
    const felipe = (word: string) => (word === "felipe" ? 15_190 : undefined);
    expect(knownCorrection("feline", { pieces: () => [8_879, 2_293], row: felipe })).toBeNull();
  });
  it("has no correction two letters away that the word model does not know", () => {
    expect(corrections("restorrant", terms, (word) => Array.from(word, () => 9))).toEqual([]);
  });
  it("is replaced as a word, and nothing else is", () => {
    const corrected = new Map([["restuarant", "restaurant"]]);
    expect(withCorrections("Which Restuarant? restuarants", corrected)).toBe("Which restaurant? restuarants");
  });
});
