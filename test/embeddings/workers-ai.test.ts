import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/app.ts";
import { portsOf } from "../../src/bindings.ts";
import { type WorkersAi, WorkersAiEmbedder } from "../../src/embeddings/workers-ai.ts";
import { embedderContract } from "./contract.ts";

/** As the real one: at most 100 texts a call, none of them empty, 768 numbers each, not of length 1. */
function workersAi(): WorkersAi & { calls: number } {
  const double = {
    calls: 0,
    async run(model: string, { text }: { text: string[] }) {
      double.calls++;
      if (model !== "@cf/baai/bge-base-en-v1.5") throw new Error(`5007: No such model ${model}`);
      if (text.length > 100) throw new Error("3030: at most 100 texts");
      if (text.some((one) => one === "")) throw new Error("5006: required properties at '/text' are 'text'");
      const data = text.map((one) =>
        Array.from({ length: 768 }, (_, i) => Math.sin(i * (one.length + 1)) * 3),
      );
      return { shape: [text.length, 768], data, pooling: "mean" };
    },
  };
  return double;
}

embedderContract("Workers AI", () => new WorkersAiEmbedder(workersAi()), ["one", "three", "fifteen"]);

describe("Workers AI", () => {
  it("is called once a hundred texts, and not at all for empty ones", async () => {
    const ai = workersAi();
    await new WorkersAiEmbedder(ai).embed(Array.from({ length: 201 }, (_, i) => `text ${i}`));
    expect(ai.calls).toBe(3);
    await new WorkersAiEmbedder(ai).embed(["", " "]);
    expect(ai.calls).toBe(3);
  });

  it.each([
    ["an outage", () => Promise.reject(new Error("3040: capacity temporarily exceeded")), "3040"],
    ["an answer without vectors", () => Promise.resolve({}), "no vectors"],
    ["too few vectors", () => Promise.resolve({ data: [] }), "0 vectors for 1"],
    ["vectors of another size", () => Promise.resolve({ data: [[1, 2, 3]] }), "3 dimensions"],
  ])("rejects on %s", async (_, run, reason) => {
    await expect(new WorkersAiEmbedder({ run }).embed(["x"])).rejects.toThrow(reason);
  });

  it("embeds where it is bound, and /health says so", async () => {
    const bound = { ...env, AI: workersAi() };
    expect(portsOf(bound).embedder.model).toBe("@cf/baai/bge-base-en-v1.5");
    const health = await createApp().request("/health", {}, bound);
    expect(await health.json()).toMatchObject({
      embedder: { model: "@cf/baai/bge-base-en-v1.5", dimensions: 768 },
    });
  });
});
