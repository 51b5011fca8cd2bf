import { expect, it } from "vitest";
import { namedOpposites } from "../../../src/domain/memory/opposites.ts";
import { wordsOf } from "../../../src/domain/memory/predicate-words.ts";
import { defaultRule } from "../../../src/domain/memory/predicates.ts";

it("a rule names the opposites of both predicates, and none of itself", () => {
  const named = namedOpposites(
    new Map([["mag", { ...defaultRule("mag"), opposites: ["hasst", "mag", "meidet"] }]]),
  );
  expect(named("mag")).toEqual(["hasst", "meidet"]);
  expect(named("hasst")).toEqual(["mag"]);
});

it("a predicate may have the name of what every object of JavaScript has", () => {
  expect(wordsOf("constructor").base).toBe("constructor");
});
