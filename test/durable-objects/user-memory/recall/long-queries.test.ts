// Queries at both ends of what is taken: nothing but white space, and a pasted document.
import { expect, it } from "vitest";
import { searchedQuery } from "../../../../src/domain/memory/searched-query.ts";
import { byteLength } from "../../../../src/domain/limits.ts";
import { call, newUser } from "../../../call.ts";
import { rememberMany } from "../../../memory-calls.ts";

const recall = (user: string, query: string, more: object = {}) =>
  call(`/v1/users/${user}/recall`, { json: { query, ...more } });
/** Twenty KiB of words that nobody has remembered. */
const FILLER = Array.from({ length: 2_500 }, (_, i) => `filler${i}`).join(" ");

it("searches by the first and the last part of a long query, and says that it was cut", async () => {
  const user = newUser();
  await rememberMany(user, [
    { text: "the boiler needs a new valve" },
    { text: "the penguins live on the ice" },
    { text: "the cat sleeps on the sofa" },
  ]);
  const words = { weights: { soft: 0, vector: 0, recency: 0 }, minScore: 0.01 };
  const { status, body } = await recall(user, `boiler ${FILLER} penguins ${FILLER} sofa`, words);
  expect(status).toBe(200);
  expect(body.cut).toBe(true);
  const found = body.hits.map(({ text, why }: { text: string; why: { lexical?: number } }) => [
    text,
    why.lexical !== undefined,
  ]);
  expect(found).toContainEqual(["the boiler needs a new valve", true]);
  expect(found).toContainEqual(["the cat sleeps on the sofa", true]);
  expect(found).not.toContainEqual(["the penguins live on the ice", true]);
});

it("searches by all of 8 KiB, and says nothing of a cut", async () => {
  const { status, body } = await recall(newUser(), "é".repeat(4 * 1024));
  expect(status).toBe(200);
  expect(body).not.toHaveProperty("cut");
  expect((await recall(newUser(), "é".repeat(4 * 1024 + 1))).body.cut).toBe(true);
});

it.each([
  ["letters", "a"],
  ["of two bytes", "é"],
  ["of three", "語"],
  ["of four", "🦒"],
])("cuts no character in two: %s", (_, character) => {
  for (const shift of ["", "x", "xx", "xxx"]) {
    const { query, cut } = searchedQuery(`${shift}${character.repeat(10_000)}end`);
    expect(cut).toBe(true);
    expect(query).toMatch(new RegExp(`^${shift}(?:${character})+\\n(?:${character})+end$`, "u"));
    expect(byteLength(query)).toBeLessThanOrEqual(8 * 1024);
    expect(byteLength(query)).toBeGreaterThan(8 * 1024 - 8);
  }
});

it.each([" ", "\n\t ", "\u00a0\u3000"])(
  "refuses a query of white space alone, and names the field: %j",
  async (query) => {
    const answers = [
      await recall(newUser(), query),
      await recall(newUser(), query, { owners: ["shared:team"] }),
    ];
    for (const { status, body } of answers) {
      expect(status).toBe(400);
      expect(body.error).toMatchObject({
        code: "invalid_request",
        details: [{ path: "body.query", message: "holds only white space" }],
      });
    }
  },
);
