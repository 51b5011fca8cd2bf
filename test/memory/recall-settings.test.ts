import { expect, it } from "vitest";
import { rankingModels } from "../../src/domain/ranking/weights.ts";
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
