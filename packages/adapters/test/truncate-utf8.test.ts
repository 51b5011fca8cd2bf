import fc from "fast-check";
import { expect, it } from "vitest";
import { truncateUtf8 } from "../src/bytes/truncate-utf8.ts";
import { byteLength } from "../../../src/domain/limits.ts";
import { anyCharacter } from "../../../test/any-character.ts";

it("cuts a text between characters, and no shorter than need be", () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.nat({ max: 20 }), (text, bytes) => {
      const cut = truncateUtf8(text, bytes);
      const whole = text.toWellFormed();
      expect(whole.startsWith(cut)).toBe(true);
      expect(byteLength(cut)).toBeLessThanOrEqual(bytes);
      const [next = ""] = text.slice(cut.length);
      expect(next === "" || byteLength(cut + next) > bytes).toBe(true);
    }),
  );
});
