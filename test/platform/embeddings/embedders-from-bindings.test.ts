import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApp } from "../../../src/worker/app.ts";
import {
  type EmbedderBindings,
  embeddersFromBindings,
} from "../../../src/platform/embeddings/embedders-from-bindings.ts";
import { Isolate } from "../../../src/platform/isolate.ts";
import { VectorizeDouble } from "../../doubles/vectorize.ts";
import { WorkersAiDouble } from "../../doubles/workers-ai.ts";
import { realPorts } from "../../doubles/ports.ts";

type Vars = Omit<EmbedderBindings, "ASSETS">;
const AI = new WorkersAiDouble();
const chosen = (vars: Vars) => embeddersFromBindings({ ASSETS: env.ASSETS, ...vars }, new Isolate());
const URL = "https://embeddings.test/v1";
const KEY = "sk-a-key-that-nobody-may-see";
const BASE = "@cf/baai/bge-base-en-v1.5";

describe("what embeds is", () => {
  it.each<[string, Vars, string, number]>([
    ["the model in the Worker, where nothing else is bound", {}, "static2-en-256", 256],
    ["the other one, by its name", { AI, EMBEDDINGS_MODEL: "mini-en-256" }, "mini-en-256", 256],
    ["the first one, by its name", { AI, EMBEDDINGS_MODEL: "static2-en-256" }, "static2-en-256", 256],
    [
      "the model in the Worker, where Workers AI is bound and no variable names it",
      { AI },
      "static2-en-256",
      256,
    ],
    ["Workers AI, where a variable names its model", { AI, EMBEDDINGS_MODEL: BASE }, `${BASE};768;`, 768],
    [
      "Workers AI's model of that name",
      { AI, EMBEDDINGS_MODEL: "@cf/baai/bge-m3" },
      "@cf/baai/bge-m3;1024",
      1024,
    ],
    [
      "the endpoint's model of Cloudflare's, where Workers AI is bound too",
      { AI, EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "@cf/baai/bge-m3" },
      "@cf/baai/bge-m3;1024;at=",
      1024,
    ],
    [
      "the endpoint's model",
      { AI, EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "text-embedding-3-small" },
      "text-embedding-3-small;1536;at=",
      1536,
    ],
    [
      "the endpoint's model of Cloudflare's, without a binding",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "@cf/baai/bge-m3" },
      "@cf/baai/bge-m3;1024;at=",
      1024,
    ],
    [
      "a model with fewer dimensions",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "text-embedding-3-large", EMBEDDINGS_DIMENSIONS: "1536" },
      "text-embedding-3-large;1536",
      1536,
    ],
    [
      "a model that nobody knows",
      { EMBEDDINGS_URL: "http://localhost:11434/v1", EMBEDDINGS_MODEL: "ours", EMBEDDINGS_DIMENSIONS: "100" },
      "ours;100",
      100,
    ],
    [
      "as if they were not there, where variables are empty",
      { EMBEDDINGS_URL: "", EMBEDDINGS_MODEL: " ", EMBEDDINGS_KEY: "" },
      "static2-en-256",
      256,
    ],
  ])("%s", (_, vars, model, dimensions) => {
    const { embedder } = chosen(vars);
    expect(embedder.problem).toBeUndefined();
    expect(embedder.model.startsWith(model)).toBe(true);
    expect(embedder.dimensions).toBe(dimensions);
  });
});

describe("what does not add up", () => {
  it.each<[string, Vars, string]>([
    [
      "a model that Workers AI is not known to have",
      { AI, EMBEDDINGS_MODEL: "@cf/baai/bge-huge" },
      "@cf/baai/bge-m3",
    ],
    [
      "a model without its endpoint",
      { AI, EMBEDDINGS_MODEL: "text-embedding-3-small" },
      "without EMBEDDINGS_URL",
    ],
    ["a model of Workers AI's without the binding", { EMBEDDINGS_MODEL: BASE }, "no AI binding"],
    ["an endpoint without a model", { EMBEDDINGS_URL: URL }, "EMBEDDINGS_MODEL is not"],
    ["an address that is none", { EMBEDDINGS_URL: "embeddings", EMBEDDINGS_MODEL: "m" }, "not a URL"],
    [
      "an address without TLS",
      { EMBEDDINGS_URL: "http://embeddings.test", EMBEDDINGS_MODEL: "m" },
      "not https",
    ],
    [
      "an address that only begins like localhost",
      { EMBEDDINGS_URL: "http://localhost.test", EMBEDDINGS_MODEL: "m" },
      "not https",
    ],
    [
      "an address with a password",
      { EMBEDDINGS_URL: `https://u:${KEY}@e.test`, EMBEDDINGS_MODEL: "m" },
      "password",
    ],
    [
      "a key that no header holds",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_KEY: `${KEY}\n.`, EMBEDDINGS_MODEL: "m" },
      "EMBEDDINGS_KEY",
    ],
    [
      "dimensions that nobody knows",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "ours" },
      "EMBEDDINGS_DIMENSIONS is not set",
    ],
    [
      "dimensions that are no number",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "ours", EMBEDDINGS_DIMENSIONS: "many" },
      "1 to 8192",
    ],
    [
      "more dimensions than there are",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "text-embedding-3-small", EMBEDDINGS_DIMENSIONS: "3072" },
      "has 1536",
    ],
    [
      "fewer than a model can be asked for",
      { EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "bge-m3", EMBEDDINGS_DIMENSIONS: "512" },
      "has 1024",
    ],
    [
      "other dimensions than Workers AI's",
      { AI, EMBEDDINGS_MODEL: BASE, EMBEDDINGS_DIMENSIONS: "1024" },
      "the model has 768",
    ],
  ])("is told, and embeds nothing: %s", async (_, vars, problem) => {
    const { embedder, formerEmbedders } = chosen(vars);
    expect(embedder.problem).toContain(problem);
    expect(embedder.problem).not.toContain(KEY);
    await expect(embedder.embed(["x"])).rejects.toThrow(problem);
    expect(formerEmbedders.map(({ model }) => model)).toContain("static2-en-256");
  });

  it("is told at /health, which goes on answering, as do stored words", async () => {
    const bound = { ...env, AI, EMBEDDINGS_MODEL: "@cf/baai/bge-huge", VECTORIZE: new VectorizeDouble(768) };
    const health = await createApp(realPorts).request("/health", {}, bound);
    expect(health.status).toBe(200);
    expect(await health.json()).toEqual({
      status: "degraded",
      embedder: { model: "none", dimensions: 0 },
      languageModel: null,
      vectorIndex: "vectorize",
      problems: [expect.stringContaining("EMBEDDINGS_MODEL is @cf/baai/bge-huge")],
      failing: [{ part: "embedder", since: expect.any(Number) }],
    });
  });
});

it("says at /health what embeds", async () => {
  const health = await createApp(realPorts).request("/health", {}, { ...env, AI, EMBEDDINGS_MODEL: BASE });
  expect(await health.json()).toMatchObject({
    status: "ok",
    embedder: { model: `${BASE};768;pooling=cls;prompts=bge-en`, dimensions: 768 },
  });
});

describe("what may have embedded before is", () => {
  const former = (vars: Vars) => chosen(vars).formerEmbedders.map(({ model }) => model.split(";")[0]);

  it("the other model in the Worker, where nothing else can be made", () => {
    expect(former({})).toEqual(["mini-en-256"]);
    expect(former({ EMBEDDINGS_MODEL: "mini-en-256" })).toEqual(["static2-en-256"]);
  });

  it("all that the bindings can still make, and not what embeds now", () => {
    const all = former({ AI, EMBEDDINGS_URL: URL, EMBEDDINGS_MODEL: "text-embedding-3-small" });
    expect(all).toEqual([
      "static2-en-256",
      "mini-en-256",
      "@cf/baai/bge-small-en-v1.5",
      BASE,
      "@cf/baai/bge-large-en-v1.5",
      "@cf/baai/bge-m3",
      "@cf/google/embeddinggemma-300m",
      "@cf/qwen/qwen3-embedding-0.6b",
      "text-embedding-3-large",
      "text-embedding-ada-002",
    ]);
    expect(former({ AI, EMBEDDINGS_MODEL: BASE })).not.toContain(BASE);
    expect(former({ AI, EMBEDDINGS_MODEL: BASE })).toHaveLength(7);
  });
});
