import fc from "fast-check";

/** Any code point, halves of a pair too. The `unit` named `binary` is the same, and takes two seconds to make in each test file. */
export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10_ffff }).map(
  (point) => String.fromCodePoint(point),
  (character) => {
    // A string that fast-check tries may be anything: it is no single character then.
    if (typeof character !== "string" || !/^.$/su.test(character)) throw new Error("no character");
    return character.codePointAt(0) ?? 0;
  },
);
