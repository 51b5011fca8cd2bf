import { describe, expect, it } from "vitest";
import { type WorkersAi, WorkersAiEmbedder } from "../../../src/platform/embeddings/workers-ai.ts";
import { workersAiModels } from "../../../src/platform/embeddings/models.ts";
import { WorkersAiDouble } from "../../doubles/workers-ai.ts";
import { embedderContract, texts } from "./contract.ts";

const never: WorkersAi = { run: () => new Promise(() => {}) };
const named = (name: string) => workersAiModels.find((model) => model.name.endsWith(name));

for (const model of workersAiModels)
  embedderContract(model.name, () => new WorkersAiEmbedder(new WorkersAiDouble(), model), {
    known: texts,
    hanging: () => new WorkersAiEmbedder(never, model),
  });

it("names each model's space, so that no two are mixed", () => {
  const spaces = workersAiModels.map(({ space }) => space);
  expect(new Set(spaces).size).toBe(spaces.length);
  expect(spaces).toContain("@cf/baai/bge-base-en-v1.5;768;pooling=cls;prompts=bge-en");
  for (const { name, dimensions, space } of workersAiModels)
    expect(space.startsWith(`${name};${dimensions}`)).toBe(true);
});

describe("what is asked of", () => {
  const asked = async (name: string, as: "query" | "document") => {
    const ai = new WorkersAiDouble();
    await new WorkersAiEmbedder(ai, named(name)).embed(["tea"], { as });
    return ai.asked[0]?.input;
  };

  it("the English bge models: cls pooling, and an instruction before a query", async () => {
    for (const name of ["bge-small-en-v1.5", "bge-base-en-v1.5", "bge-large-en-v1.5"]) {
      expect(await asked(name, "document")).toEqual({ text: ["tea"], pooling: "cls" });
      expect(await asked(name, "query")).toEqual({
        text: ["Represent this sentence for searching relevant passages: tea"],
        pooling: "cls",
      });
    }
  });

  it("bge-m3: the same for both, and to refuse rather than to cut", async () => {
    for (const as of ["query", "document"] as const)
      expect(await asked("bge-m3", as)).toEqual({ text: ["tea"], truncate_inputs: false });
  });

  it("embeddinggemma: a prompt before each", async () => {
    expect(await asked("embeddinggemma-300m", "document")).toEqual({ text: ["title: none | text: tea"] });
    expect(await asked("embeddinggemma-300m", "query")).toEqual({
      text: ["task: search result | query: tea"],
    });
  });

  it("qwen3: fields of their own", async () => {
    expect(await asked("qwen3-embedding-0.6b", "document")).toEqual({ documents: ["tea"] });
    expect(await asked("qwen3-embedding-0.6b", "query")).toEqual({
      queries: ["tea"],
      instruction: "Given a web search query, retrieve relevant passages that answer the query",
    });
  });
});

describe("Workers AI", () => {
  it("is called once a hundred texts, and not at all for empty ones", async () => {
    const ai = new WorkersAiDouble();
    await new WorkersAiEmbedder(ai).embed(Array.from({ length: 201 }, (_, i) => `text ${i}`));
    expect(ai.asked.map(({ input }) => (input["text"] as string[]).length)).toEqual([100, 100, 1]);
    await new WorkersAiEmbedder(ai).embed(["", " "]);
    expect(ai.asked).toHaveLength(3);
  });

  it("is called with fewer texts where they are long", async () => {
    const ai = new WorkersAiDouble();
    await new WorkersAiEmbedder(ai, named("bge-m3")).embed(Array(10).fill("word ".repeat(6_000)));
    expect(ai.asked.length).toBeGreaterThan(1);
    const sizes = ai.asked.map(({ input }) => (input["text"] as string[]).join("").length);
    // "word " is 2.25 tokens by the estimate, and a call holds 60,000.
    for (const size of sizes) expect((size / 5) * 2.25).toBeLessThanOrEqual(60_000);
  });

  it.each([
    ["an outage", () => Promise.reject(new Error("3040: No more data centers")), "3040"],
    ["an answer without vectors", () => Promise.resolve({}), "no vectors"],
    ["no answer", () => Promise.resolve(null), "no vectors"],
    ["an answer for later", () => Promise.resolve({ request_id: "1" }), "no vectors"],
    ["too few vectors", () => Promise.resolve({ data: [] }), "0 vectors for 1"],
    ["vectors of another size", () => Promise.resolve({ data: [[1, 2, 3]] }), "3 dimensions, not 768"],
    ["no vector in the list", () => Promise.resolve({ data: [null] }), "not a vector"],
    ["a vector of text", () => Promise.resolve({ data: [Array(768).fill("1")] }), "not finite"],
    ["a vector of NaN", () => Promise.resolve({ data: [Array(768).fill(Number.NaN)] }), "not finite"],
  ])("rejects on %s", async (_, run, reason) => {
    await expect(new WorkersAiEmbedder({ run }).embed(["x"])).rejects.toThrow(reason);
  });

  it("gives no vector where the model answers zeros", async () => {
    const run = () => Promise.resolve({ data: [Array(768).fill(0)] });
    expect(await new WorkersAiEmbedder({ run }).embed(["x"])).toEqual([null]);
  });
});
