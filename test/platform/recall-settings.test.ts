import { expect, it } from "vitest";
import { rankingModels, rankingNumbers } from "../../src/domain/ranking/weights.ts";
import { recallSettings } from "../../src/platform/recall-settings.ts";
import { WorkersAiDouble } from "../doubles/workers-ai.ts";

const AI = new WorkersAiDouble();

it("finds messages in full and reranks nothing unless something is set", () => {
  const plain = { messageIndexing: "full", reranker: null, models: rankingModels, problems: [] };
  expect(recallSettings({}, false)).toEqual(plain);
  expect(recallSettings({ MESSAGE_INDEXING: "", RERANKER_MODEL: " ", AI }, true)).toEqual(plain);
});

it("does what is set", () => {
  const settings = recallSettings(
    { MESSAGE_INDEXING: "vectorize", RERANKER_MODEL: "@cf/baai/bge-reranker-base", AI },
    true,
  );
  expect(settings).toMatchObject({
    messageIndexing: "vectorize",
    reranker: { model: "@cf/baai/bge-reranker-base" },
    problems: [],
  });
});

it("takes weights in the place of the usual ones", () => {
  const RECALL_WEIGHTS = JSON.stringify({
    weights: { people: { soft: 9 } },
    statements: { echo: -1 },
    threshold: 0.5,
  });
  const { models, problems } = recallSettings({ RECALL_WEIGHTS }, false);
  const { weights, statements, ...usual } = rankingModels.static;
  expect(models.static).toEqual({
    ...usual,
    weights: { ...weights, people: { ...weights.people, soft: 9 } },
    statements: { ...statements, echo: -1 },
    threshold: 0.5,
  });
  expect(models.contextual.threshold).toBe(0.5);
  expect(problems).toEqual([]);
});

it.each([
  ["no JSON", /^RECALL_WEIGHTS: /],
  ['{"weights": {"people": {"sofft": 1}}}', /^RECALL_WEIGHTS\.weights\.people/],
  ['{"threshold": 2}', /^RECALL_WEIGHTS\.threshold: /],
])("ranks by the usual weights if RECALL_WEIGHTS is %s", (RECALL_WEIGHTS, problem) => {
  const { models, problems } = recallSettings({ RECALL_WEIGHTS }, false);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(models).toEqual(rankingModels);
});

it.each([
  [{ MESSAGE_INDEXING: "words" }, /^MESSAGE_INDEXING is words: it is one of lexical, full, vectorize$/],
  [{ MESSAGE_INDEXING: "vectorize" }, /no VECTORIZE is bound/],
  [
    { RERANKER_MODEL: "@cf/other/reranker", AI },
    /^RERANKER_MODEL is @cf\/other\/reranker: it is one of @cf\/baai/,
  ],
  [{ RERANKER_MODEL: "@cf/baai/bge-reranker-base" }, /there is no AI binding/],
])("says what is wrong with %o", (vars, problem) => {
  const { problems, reranker } = recallSettings(vars, false);
  expect(problems).toEqual([expect.stringMatching(problem)]);
  expect(reranker).toBeNull();
});

it("ranks by 64 numbers at most, each under a name that RECALL_WEIGHTS has", () => {
  const count = (value: unknown): number =>
    typeof value === "object" && value !== null
      ? Object.values(value).reduce<number>((sum, one) => sum + count(one), 0)
      : Number(typeof value === "number");
  expect(count(rankingNumbers)).toBeLessThanOrEqual(64);
  for (const part of Object.values(rankingNumbers))
    expect(recallSettings({ RECALL_WEIGHTS: JSON.stringify(part) }, false).problems).toEqual([]);
});
