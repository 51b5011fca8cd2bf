import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/worker/app.ts";
import { DeadlineExceeded } from "../../src/platform/deadline.ts";
import { Isolate } from "../../src/platform/isolate.ts";
import { MiniLmEmbedder } from "../../src/platform/embeddings/minilm.ts";
import { SharedMiniLm } from "../../src/platform/embeddings/minilm/minilm.ts";
import { cosine, texts } from "./contract.ts";
import check from "./minilm-l6.check.json";
import { isMade, minilm, REASON, shared } from "./minilm.ts";
import { realPorts } from "../doubles/ports.ts";

describe.runIf(isMade)(`MiniLM${REASON}`, () => {
  it.each(check.cases)("embeds as another implementation does: $text", async ({ text, pieces, vector }) => {
    const model = await shared.get(env.ASSETS);
    expect(model.pieces(text)).toHaveLength(pieces);
    const found = await model.embed(text, async () => {});
    const length = Math.hypot(...found);
    expect(
      cosine(
        found.map((x) => x / length),
        Float32Array.from(vector),
      ),
    ).toBeGreaterThan(0.99);
  });

  it("tells who bites whom, which a sum of words does not", async () => {
    const [man, dog, postman] = await minilm().embed([
      "the dog bit the man",
      "the man bit the dog",
      "a postman was bitten by a dog",
    ]);
    expect(cosine(man, postman)).toBeGreaterThan(cosine(dog, postman));
  });

  it("gives other calls a turn between two texts", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await minilm().embed([texts.join(". ").repeat(10)]);
    clearInterval(timer);
    expect(turns).toBeGreaterThanOrEqual(5);
  });

  it("embeds texts at once as it does one by one", async () => {
    const long = texts.map((text) => `${text}. `.repeat(10));
    const one = [];
    for (const text of long) one.push(...(await minilm().embed([text])));
    const both = await Promise.all(long.map((text) => minilm().embed([text])));
    expect(both.flat()).toEqual(one);
  });

  it("takes its memory from the vectors of the isolate", async () => {
    const isolate = new Isolate();
    const before = isolate.vectors.bytes;
    await isolate.minilm.get(env.ASSETS);
    expect(isolate.vectors.bytes).toBeLessThanOrEqual(before - 27 * 1024 * 1024);
    expect(isolate.vectors.bytes).toBeGreaterThan(0);
  });
});

it("begins no call that ends too late", async () => {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return new Response(null, { status: 404 });
  };
  const embedder = new MiniLmEmbedder({ fetch }, new SharedMiniLm());
  const many = Array.from({ length: 100 }, () => "a message of seven words, repeated. ".repeat(100));
  await expect(embedder.embed(many, { withinMs: 5_000 })).rejects.toThrow(DeadlineExceeded);
  expect(asked).toEqual([]);
});

describe("where the weights are not among the assets", () => {
  const missing = { fetch: async () => new Response(null, { status: 404 }) };

  it("/health tells the command that makes them, and words are found", async () => {
    const ASSETS = missing as unknown as Fetcher;
    const health = await createApp(realPorts).request(
      "/health",
      {},
      { ...env, ASSETS, EMBEDDINGS_MODEL: "minilm-l6" },
    );
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({
      status: "degraded",
      embedder: { model: "minilm-l6;384", dimensions: 384 },
      problems: [expect.stringContaining("npm run minilm")],
    });
  });

  it("a call fails, and a later one finds what has come", async () => {
    const files: { fetch: (url: string) => Promise<Response> } = { ...missing };
    const embedder = new MiniLmEmbedder(files, new SharedMiniLm());
    await expect(embedder.embed(["x"])).rejects.toThrow(/npm run minilm/);
    files.fetch = async () => new Response("torn");
    await expect(embedder.embed(["x"])).rejects.toThrow(/bytes/);
  });
});
