import { describe } from "vitest";
import { MiniLmEmbedder } from "../../src/platform/embeddings/minilm.ts";
import { SharedMiniLm } from "../../src/platform/embeddings/minilm/minilm.ts";
import { embedderContract, texts } from "./contract.ts";
import { isMade, minilm, REASON } from "./minilm.ts";

describe.runIf(isMade)(`with the weights${REASON}`, () => {
  embedderContract("MiniLM", minilm, {
    known: texts,
    hanging: () => new MiniLmEmbedder({ fetch: () => new Promise(() => {}) }, new SharedMiniLm()),
  });
});
