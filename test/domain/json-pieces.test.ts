import fc from "fast-check";
import { expect, it } from "vitest";
import { inUtf8 } from "../../src/domain/json-pieces.ts";
import { anyCharacter } from "../any-character.ts";

it("puts text and bytes together in their order, whatever characters they hold", () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: anyCharacter }).map((one) => one.toWellFormed()),
  );
  const piece = fc.oneof(text, fc.uint8Array());
  const bytes = (one: string | Uint8Array) => (typeof one === "string" ? new TextEncoder().encode(one) : one);
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      expect([...inUtf8(pieces)]).toEqual(pieces.flatMap((one) => [...bytes(one)]));
    }),
  );
});
