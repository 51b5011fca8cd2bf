import { expect, it } from "vitest";
import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import { estimatedTokens } from "../../../src/platform/embeddings/tokens.ts";
import type { WorkersAi } from "../../../src/platform/embeddings/workers-ai.ts";
import { WorkersAiReranker } from "../../../src/platform/reranking/workers-ai.ts";

type Input = { query: string; contexts: { text: string }[] };
type Asked = { model: string; input: Input };

/** Answers as the model's published schema says: best first, each score with its context's index. */
class Double implements WorkersAi {
  readonly asked: Asked[] = [];
  readonly #score: (text: string) => number;

  constructor(score: (text: string) => number) {
    this.#score = score;
  }

  async run(model: string, input: Record<string, unknown>): Promise<unknown> {
    const { query, contexts } = input as Input;
    this.asked.push({ model, input: { query, contexts } });
    const response = contexts.map(({ text }, id) => ({ id, score: this.#score(text) }));
    return { response: response.toSorted((a, b) => b.score - a.score) };
  }
}

const byTea = (text: string): number => text.split("tea").length - 1;
const within = { withinMs: 1000 };

it("answers a score for each text, in the texts' order", async () => {
  const ai = new Double((text) => byTea(text) / 10);
  const scores = await new WorkersAiReranker(ai).rerank("tea?", ["tea", "none", "tea tea"], within);
  expect(scores).toEqual([0.1, 0, 0.2]);
  expect(ai.asked).toMatchObject([{ model: "@cf/baai/bge-reranker-base", input: { query: "tea?" } }]);
});

it("makes shares of logits, and keeps their order", async () => {
  const scores = await new WorkersAiReranker(new Double((text) => byTea(text) * 4 - 4)).rerank(
    "tea?",
    ["none", "tea", "tea tea"],
    within,
  );
  expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
  expect(scores).toEqual(scores.toSorted((a, b) => a - b));
});

it("reads a long text in pieces that the model takes, and takes it for as good as its best one", async () => {
  const ai = new Double((text) => byTea(text) / 10);
  const long = `${"There is nothing of interest in here. ".repeat(150)}But tea. ${"And nothing. ".repeat(100)}`;
  const scores = await new WorkersAiReranker(ai).rerank("tea? ".repeat(500), [long, "none"], within);
  expect(scores).toEqual([0.1, 0]);
  for (const { input } of ai.asked)
    for (const { text } of input.contexts)
      expect(estimatedTokens(input.query) + estimatedTokens(text)).toBeLessThanOrEqual(512);
});

it("calls for 100 pieces at once, and reads the beginning of each of many long texts", async () => {
  const ai = new Double(() => 0.5);
  const long = "There is nothing of interest in here. ".repeat(800);
  const scores = await new WorkersAiReranker(ai).rerank(
    "tea?",
    Array.from({ length: 30 }, () => long),
    within,
  );
  expect(scores).toEqual(Array.from({ length: 30 }, () => 0.5));
  const sizes = ai.asked.map(({ input }) => input.contexts.length);
  expect(Math.max(...sizes)).toBe(100);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(390);
});

it.each([
  ["nothing", {}],
  ["a score too few", { response: [{ id: 0, score: 0.5 }] }],
  [
    "no number",
    {
      response: [
        { id: 0, score: 0.5 },
        { id: 1, score: null },
      ],
    },
  ],
])("rejects an answer of %s", async (_, answer) => {
  const reranker = new WorkersAiReranker({ run: async () => answer });
  await expect(reranker.rerank("tea?", ["a", "b"], within)).rejects.toThrow(/score for each text/);
});

it("rejects when the service takes too long", async () => {
  const reranker = new WorkersAiReranker({ run: () => new Promise(() => {}) });
  await expect(reranker.rerank("tea?", ["a"], { withinMs: 5 })).rejects.toThrow(DeadlineExceeded);
});
