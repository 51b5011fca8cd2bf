// Recalls by queries as people write them, through the API.
import { beforeAll, describe, expect, it } from "vitest";
import { call, newUser } from "../../call.ts";
import { recall, rememberMany } from "../../memory-calls.ts";

const user = newUser();
beforeAll(async () => {
  await rememberMany(user, [
    { text: "I deploy my app to Frankfurt" },
    { text: "Łukasz Þórsson repairs bicycles" },
    { text: "The pediatrician recommended swimming" },
    { text: "她对花生过敏" },
    { text: "Our anniversary is in the second week of June" },
    { text: "I learn C++ on Tuesdays" },
  ]);
});
const best = async (query: string) => (await recall(user, { query, weights: { recency: 0 } }))[0];
const found = async (query: string) => {
  const hits = await recall(user, { query, weights: { recency: 0 } });
  return hits.map(({ text, score }) => [text, score]);
};

it("ignores the courtesies around a question", async () => {
  const plain = await found("where I deploy my app");
  expect(plain[0]?.[0]).toBe("I deploy my app to Frankfurt");
  const polite =
    "Hi there, hope you are well! I was wondering, could you please tell me where I deploy my app? Thanks in advance!";
  expect(await found(polite)).toEqual(plain);
});

it.each(["?", "？", "!", "。", "…", " ?!", "»", "؟"])("ignores %j at the end of a query", async (mark) => {
  for (const query of ["她对什么过敏", "learn C++", "Lukasz"])
    expect(await found(`${query}${mark}`)).toEqual(await found(query));
});

it("finds nothing by a mark inside a query", async () => {
  expect((await best("过敏，花生？"))?.score).toBeCloseTo(Number((await best("过敏 花生"))?.score), 5);
});

it.each(["Lukasz", "LUKASZ thorsson", "Łukasz", "lukasz?"])(
  "finds a name written as %s by words",
  async (query) => {
    expect(await best(query)).toMatchObject({ text: "Łukasz Þórsson repairs bicycles", why: { lexical: 1 } });
  },
);

describe("a typo", () => {
  it.each([
    ["pediatrican", "The pediatrician recommended swimming"],
    ["pediatricain", "The pediatrician recommended swimming"],
    ["epdiatrician", "The pediatrician recommended swimming"],
    ["aniversary", "Our anniversary is in the second week of June"],
    ["Thorssson", "Łukasz Þórsson repairs bicycles"],
    ["bicicles", "Łukasz Þórsson repairs bicycles"],
  ])("of one letter finds the document by words: %s", async (query, text) => {
    expect(await best(query)).toMatchObject({ text, why: { lexical: 1 } });
  });
  it("does not change a word that the word model knows", async () => {
    // "swimming" is two letters away.
    expect((await best("swinging"))?.why).not.toHaveProperty("lexical");
  });
});

it.each([
  ["one character", "a"],
  ["one Chinese character", "敏"],
  ["emoji", "🦒🎉 👩‍👩‍👧"],
  ["stop words", "what is it then"],
  ["courtesies", "Hi! Thanks a lot, please."],
  ["punctuation", "?!…。、"],
  ["8 KiB", "deploy ".repeat(1_170)],
  ["8 KiB of one word", "x".repeat(8 * 1024)],
  ["8 KiB of marks", "-+".repeat(4 * 1024)],
  [
    "300 different words",
    Array.from({ length: 300 }, (_, i) => `mistpyed${"abcdefghij"[i % 10]}${i}x`).join(" "),
  ],
  ["code", '```ts\nconst x = await deploy("app");\n```'],
  ["FTS5's own signs", 'deploy" OR (NEAR* ^app) AND NOT -x:y'],
  ["marks of direction", "\u202edeploy\u202c \u200fapp\u200e"],
  ["zero-width joiners", "de\u200dploy a\u200bpp"],
  ["a null character", "deploy\0app"],
  ["many combining marks", `d${"\u0301".repeat(500)}eploy`],
])("answers a query of %s", async (_, query) => {
  const { status, body } = await call(`/v1/users/${user}/recall`, { json: { query } });
  expect(status).toBe(200);
  expect(body.degraded).toBe(false);
  // No document has such a word.
  expect(body.hits.length > 0).toBe(!query.startsWith("xxx"));
  const first = query.includes("ploy") ? body.hits[0].text : "I deploy my app to Frankfurt";
  expect(first).toBe("I deploy my app to Frankfurt");
});
