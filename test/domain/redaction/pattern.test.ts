import { describe, expect, it } from "vitest";
import { compiled } from "../../../src/domain/redaction/pattern.ts";
import { redactedJson } from "../../../src/domain/redaction/redacted-json.ts";

/** The text without what a pattern matches. */
function without(pattern: string, text: string): string {
  const expression = compiled(pattern);
  if (typeof expression === "string") throw new Error(expression);
  return text.replace(expression, "_");
}

describe("a pattern", () => {
  it.each([
    [String.raw`\d{4}[ -]?\d{4}[ -]?\d{4}[ -]?\d{4}`, "no 4111 1111-11111111.", "no _."],
    [String.raw`[\w.+-]{1,32}@[\w-]{1,32}\.[\w.]{2,32}`, "to ana.b+c@mail-er.example.org now", "to _ now"],
    [String.raw`\bAnn\b`, "Ann, ann and Anna", "_, _ and Anna"],
    [String.raw`\+\d{2} ?\d{9}`, "+49 123456789 +49123456789", "_ _"],
    ["[a-fA-F0-9]{8}", "key deadBEEF!", "key _!"],
    ["秘密", "これは秘密です", "これは_です"],
    [String.raw`\$\(\)`, "a $() b", "a _ b"],
  ])("%s takes out its matches", (pattern, text, left) => {
    expect(without(pattern, text)).toBe(left);
  });

  it.each([
    ["(a+)+", "does not have"],
    [String.raw`\d+`, "does not have"],
    [String.raw`\d*x`, "does not have"],
    ["a|b", "does not have"],
    ["a.c", "does not have"],
    ["^a$", "does not have"],
    [String.raw`(?=a)`, "does not have"],
    [String.raw`(a)\1`, "does not have"],
    [String.raw`\p{L}`, "does not have"],
    [String.raw`\d{2,}`, "neither {n} nor {n,m}"],
    [String.raw`\d{2`, "neither {n} nor {n,m}"],
    [String.raw`\d{65}`, "a repetition is of 1 to 64"],
    [String.raw`\d{3,2}`, "a repetition is of 1 to 64"],
    [String.raw`\d{0}`, "a repetition is of 1 to 64"],
    ["[abc", "a [ without its ]"],
    ["[]", "a set of no characters"],
    ["[^a]", "does not have"],
    ["[z-a]", "a range is of digits"],
    ["[a-Z]", "a range is of digits"],
    ["\\", "does not have"],
    ["a?", "matches the empty text"],
    [String.raw`\b`, "matches the empty text"],
    [String.raw`\d{64}\d{64}x`, "more than 128 characters"],
    [String.raw`\d{1,3}\d`, "ambiguous"],
    [String.raw`\w{1,64}\d{2}`, "ambiguous"],
    [String.raw`\d{1,64}-?\d{1,60}x`, "ambiguous"],
    ["[ab]{1,3}A", "ambiguous"],
    [String.raw`a?\ba`, "ambiguous"],
    ["k{1,2}\u212A", "ambiguous"],
  ])("%s is refused", (pattern, problem) => {
    expect(compiled(pattern)).toContain(problem);
  });
});

describe("a JSON text", () => {
  const redactions = [
    { expression: /\d{4}/gu, as: "[number]" },
    { expression: /ann/giu, as: "$&" },
  ];
  const id = "019a0000-0000-7000-8000-000000000000";
  it.each([
    ['{"1234": "1234", "n": 1234}', '{"1234": "[number]", "n": 1234}'],
    [String.raw`["\u0031234", "\"1234\"", "\\1234"]`, String.raw`["[number]", "\"[number]\"", "\\[number]"]`],
    ['{ "a" : { "ann"\n: [ "Ann", null ] } }', '{ "a" : { "ann"\n: [ "$&", null ] } }'],
    [
      `["${id}", "${"x".repeat(22)}.${id}", "my ${id}"]`,
      `["${id}", "${"x".repeat(22)}.${id}", "my 019a[number]-[number]-[number]-[number]-[number][number][number]"]`,
    ],
    [String.raw`["\ud800 nothing", "a\/b"]`, String.raw`["\ud800 nothing", "a\/b"]`],
    ['{"a": "1234', '{"a": "1234'],
    [String.raw`["\x1234"]`, String.raw`["\x1234"]`],
    ["1234", "1234"],
  ])("%s keeps all but the texts", (json, expected) => {
    expect(redactedJson(json, redactions)).toBe(expected);
    expect(redactedJson(json, [])).toBe(json);
  });

  it("is refused if the patterns would put in more than a mebibyte", () => {
    const one = [{ expression: /\d/gu, as: "x".repeat(64) }];
    expect(redactedJson(JSON.stringify("1".repeat(16_384)), one)).toHaveLength(16_384 * 64 + 2);
    expect(redactedJson(JSON.stringify("1".repeat(16_385)), one)).toBeNull();
  });
});
