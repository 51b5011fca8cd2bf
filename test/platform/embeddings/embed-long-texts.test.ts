import { expect, it } from "vitest";
import { embedLongTexts, type ModelSpec } from "../../../src/platform/embeddings/embed-long-texts.ts";
import { noPrompts } from "../../../src/platform/embeddings/models.ts";
import { estimatedTokens } from "../../../src/platform/embeddings/tokens.ts";

const spec: ModelSpec = {
  dimensions: 2,
  tokens: 22,
  batch: { texts: 3, tokens: 50 },
  prompts: noPrompts,
};

/** One direction for texts about cats, another for all else. */
const direction = (text: string) => (text.includes("cat") ? [3, 0] : [0, 3]);
const record = (asked: string[][]) => async (texts: string[]) => {
  asked.push(texts);
  return texts.map(direction);
};

it("weighs the pieces of a text by their length", async () => {
  const asked: string[][] = [];
  const text = "The cat sleeps on the mat by the door. It rains.";
  const [vector] = await embedLongTexts([text], { spec, as: "document", call: record(asked) });
  const [about = "", other = ""] = asked.flat();
  expect([about.trim(), other.trim()].join(" ")).toBe(text);
  const [x, y] = [estimatedTokens(about), estimatedTokens(other)];
  expect(vector?.[0]).toBeCloseTo(x / Math.hypot(x, y));
  expect(vector?.[1]).toBeCloseTo(y / Math.hypot(x, y));
});

it("makes calls of so many texts and tokens at most, and puts the answers in order", async () => {
  const asked: string[][] = [];
  const texts = [
    "a cat",
    "rain",
    " ",
    "a cat",
    "a dog",
    "rain",
    "The cat sleeps on the mat by the door",
    "rain",
  ];
  const vectors = await embedLongTexts(texts, { spec, as: "document", call: record(asked) });
  expect(vectors.map((vector) => vector && [...vector])).toEqual(
    texts.map((text) => (text === " " ? null : direction(text).map((x) => x / 3))),
  );
  for (const call of asked) {
    expect(call.length).toBeLessThanOrEqual(3);
    expect(estimatedTokens(call.join(""))).toBeLessThanOrEqual(50);
  }
});

it("puts the prompt before each piece, and counts it", async () => {
  const asked: string[][] = [];
  const prompted = { ...spec, prompts: { name: "p", query: "ask: ", document: "" } };
  const text = "The cat sleeps on the mat. The dog barks at the door.";
  await embedLongTexts([text], { spec: prompted, as: "query", call: record(asked) });
  expect(asked.flat().length).toBeGreaterThan(1);
  for (const piece of asked.flat()) {
    expect(piece.startsWith("ask: ")).toBe(true);
    expect(estimatedTokens(piece)).toBeLessThanOrEqual(20);
  }
});

it("has no vector of a text whose pieces have none, or cancel each other", async () => {
  const [zero] = await embedLongTexts(["rain"], { spec, as: "document", call: async () => [[0, 0]] });
  expect(zero).toBeNull();
});

it("fails as a whole when one call does", async () => {
  let calls = 0;
  const call = async (texts: string[]) => {
    if (++calls === 2) throw new Error("down");
    return texts.map(direction);
  };
  const texts = Array.from({ length: 9 }, () => "rain");
  await expect(embedLongTexts(texts, { spec, as: "document", call })).rejects.toThrow("down");
});
