import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  depth,
  hasInexactNumber,
  inexactAsText,
  rawElements,
  rawField,
} from "../../src/domain/raw-values.ts";

describe("values in the text that they were written in", () => {
  it("are found wherever JSON lets them stand", () => {
    const json = ' { "a" : [ 1.0 , "],\\"," , {"b":[]} ] , "\\u0062" : "x" } ';
    expect(rawElements(json, "a")).toEqual(["1.0", '"],\\","', '{"b":[]}']);
    expect(rawField(json, "b")).toBe('"x"');
    expect(rawField(json, "c")).toBeUndefined();
    expect(rawElements('{"a":[]}', "a")).toEqual([]);
    expect(rawElements('{"a":[1],"a":[2,3]}', "a")).toEqual(["2", "3"]);
  });

  it("parse to what the whole document parses to", () => {
    const indent = fc.constantFrom(undefined, 1, "\t");
    fc.assert(
      fc.property(
        fc.array(fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        indent,
        (list, others, space) => {
          const document = { ...others, list };
          const json = JSON.stringify(document, null, space);
          expect(rawElements(json, "list").map((one) => JSON.parse(one))).toEqual(JSON.parse(json).list);
          for (const key of Object.keys(others).filter((one) => one !== "list"))
            expect(JSON.parse(rawField(json, key) ?? "")).toEqual(JSON.parse(json)[key]);
        },
      ),
    );
  });

  it("know numbers that a double does not hold", () => {
    for (const exact of [
      "1",
      "-9007199254740991",
      "-9007199254740992",
      String(2 ** 60),
      "1e+300",
      "1.5e3",
      '"12345678901234567890"',
      '{"12345678901234567890":1}',
    ])
      expect(hasInexactNumber(exact), exact).toBe(false);
    for (const inexact of [
      "9007199254740993",
      "9007199254740993.0",
      "1152921504606847001",
      String(2n ** 60n),
      "[-12345678901234567890]",
      '{"a":1e400}',
    ])
      expect(hasInexactNumber(inexact), inexact).toBe(true);
  });

  it("are read with their digits where a number would lose them, and unchanged elsewhere", () => {
    const json =
      '{"a":[9007199254740993,1.0,-12345678901234567890],"b\\"1e400":"9007199254740993","c":1e400}';
    expect(JSON.parse(inexactAsText(json))).toEqual({
      a: ["9007199254740993", 1, "-12345678901234567890"],
      'b"1e400': "9007199254740993",
      c: "1e400",
    });
    fc.assert(
      fc.property(fc.json(), (printed) => {
        expect(inexactAsText(printed)).toBe(printed);
      }),
    );
  });

  it("are read with their digits however large and deep", () => {
    const large = fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), large)), (pairs) => {
        const json = `[${pairs.map(([text, number]) => `[${JSON.stringify(text)},${number}]`).join()}]`;
        const read = JSON.parse(inexactAsText(json)) as [string, number | string][];
        expect(read.map(([text, number]) => [text, BigInt(number)])).toEqual(pairs);
      }),
    );
  });

  it("take any number of a JSON that JavaScript printed", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger()),
        (number) => {
          expect(hasInexactNumber(JSON.stringify({ number }))).toBe(false);
        },
      ),
    );
  });

  it("know how deeply they are nested", () => {
    expect([depth("1"), depth("[]"), depth('{"a":["[",{"b":1}]}')]).toEqual([0, 1, 3]);
  });
});
