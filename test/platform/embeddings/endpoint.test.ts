import { describe, expect, it, vi } from "vitest";
import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import { EndpointEmbedder } from "../../../src/platform/embeddings/endpoint.ts";
import { answer, EndpointDouble, type Fate } from "../../doubles/embeddings-endpoint.ts";
import { embedderContract, texts } from "./contract.ts";

const small = { name: "text-embedding-3-small", dimensions: 1536 };
const KEY = "sk-a-key-that-nobody-may-see";
const hang: Fate = () => new Promise(() => {});
const status = (code: number, headers: Record<string, string> = {}, body: unknown = {}): Fate => {
  return () => Response.json(body, { status: code, headers });
};

for (const model of [
  small,
  { name: "a-model-of-ours", dimensions: 100 },
  { name: "bge-m3", dimensions: 1024 },
])
  embedderContract(
    `an endpoint's ${model.name}`,
    () => new EndpointEmbedder(new EndpointDouble().at(), model),
    {
      known: texts,
      hanging: () => new EndpointEmbedder(new EndpointDouble(hang).at(), model),
    },
  );

describe("an endpoint is asked", () => {
  const askedOf = async (model: { name: string; dimensions: number }, as: "query" | "document") => {
    const double = new EndpointDouble(status(400));
    await new EndpointEmbedder(double.at(undefined, KEY), model).embed(["tea"], { as }).catch(() => null);
    return double.calls[0];
  };

  it("as OpenAI is, with the key as a bearer token", async () => {
    const call = await askedOf(small, "document");
    expect(call?.url).toBe("https://embeddings.test/v1/embeddings");
    expect(call?.headers.get("Authorization")).toBe(`Bearer ${KEY}`);
    expect(call?.body).toEqual({ model: small.name, input: ["tea"], encoding_format: "float" });
  });

  it("without a key where there is none", async () => {
    const double = new EndpointDouble();
    await new EndpointEmbedder(double.at(), small).embed(["tea"]);
    expect(double.calls[0]?.headers.has("Authorization")).toBe(false);
  });

  it("for fewer dimensions only where the model is known to take that", async () => {
    const reduced = await askedOf({ name: "openai/text-embedding-3-large", dimensions: 1024 }, "document");
    expect(reduced?.body.dimensions).toBe(1024);
    expect((await askedOf({ name: "ours", dimensions: 1024 }, "document"))?.body).not.toHaveProperty(
      "dimensions",
    );
  });

  it.each([
    ["bge-base-en-v1.5", "Represent this sentence for searching relevant passages: tea", "tea"],
    ["BAAI/bge-m3", "tea", "tea"],
    ["embeddinggemma", "task: search result | query: tea", "title: none | text: tea"],
    ["intfloat/multilingual-e5-large", "query: tea", "passage: tea"],
    ["nomic-embed-text:v1.5", "search_query: tea", "search_document: tea"],
    ["text-embedding-3-small", "tea", "tea"],
    ["something else", "tea", "tea"],
  ])("with the prompts of %s", async (name, query, document) => {
    expect((await askedOf({ name, dimensions: 3 }, "query"))?.body.input).toEqual([query]);
    expect((await askedOf({ name, dimensions: 3 }, "document"))?.body.input).toEqual([document]);
  });

  it("for at most a hundred texts at once, and for 32 of a model that is not known", async () => {
    for (const [model, most] of [
      [small, 100],
      [{ name: "a-model-of-ours", dimensions: 100 }, 32],
    ] as const) {
      const double = new EndpointDouble();
      await new EndpointEmbedder(double.at(), model).embed(
        Array.from({ length: 101 }, (_, i) => `text ${i}`),
      );
      const sizes = double.calls.map(({ body }) => body.input.length);
      expect(Math.max(...sizes)).toBe(most);
      expect(sizes.reduce((sum, size) => sum + size)).toBe(101);
    }
  });
});

describe("an endpoint that fails", () => {
  const embed = (double: EndpointDouble, withinMs = 10_000) =>
    new EndpointEmbedder(double.at(undefined, KEY), small).embed(["tea"], { withinMs });

  it.each([
    ["429 with seconds", status(429, { "Retry-After": "2" }), 2_000],
    ["429 with a date", status(429, { "Retry-After": new Date(1_003_000).toUTCString() }), 3_000],
    ["429 with a date that has gone", status(429, { "Retry-After": new Date(0).toUTCString() }), 0],
    ["429 with nonsense", status(429, { "Retry-After": "soon" }), 250],
    ["429 alone", status(429), 250],
    ["500", status(500), 250],
    ["503 with seconds", status(503, { "Retry-After": "1" }), 1_000],
    ["no connection", () => Promise.reject(new TypeError("network")), 250],
  ])("by %s is asked again, as late as it says", async (_, fate, wait) => {
    const double = new EndpointDouble(fate);
    expect((await embed(double))[0]).toHaveLength(1536);
    expect(double.waits).toEqual([wait]);
  });

  it("is asked three times at most, later each time", async () => {
    const double = new EndpointDouble(status(500), status(502), status(503));
    await expect(embed(double)).rejects.toThrow("answered 503");
    expect(double.waits).toEqual([250, 500]);
    expect(double.calls).toHaveLength(3);
  });

  it("is not waited for longer than the caller waits", async () => {
    const double = new EndpointDouble(status(429, { "Retry-After": "60" }));
    await expect(embed(double)).rejects.toThrow("answered 429");
    expect(double.waits).toEqual([]);
  });

  it.each([
    ["400", status(400), "answered 400"],
    ["401", status(401, {}, { error: { code: "invalid_api_key", message: KEY } }), "401 (invalid_api_key)"],
    ["an address that it sends us to", status(307, { Location: "https://else.test" }), "answered 307"],
    [
      "a quota that is used up",
      status(429, {}, { error: { code: "insufficient_quota" } }),
      "insufficient_quota",
    ],
  ])("by %s is not asked again", async (_, fate, reason) => {
    const double = new EndpointDouble(fate);
    await expect(embed(double)).rejects.toThrow(reason);
    expect(double.calls).toHaveLength(1);
  });

  const data = (...items: unknown[]): Fate => {
    return () => Response.json({ data: items });
  };
  const vector = Array(1536).fill(0.5);
  it.each([
    ["text in place of JSON", () => new Response("<html>"), "else than JSON"],
    ["JSON without vectors", () => Response.json({ ok: true }), "no vectors"],
    ["nothing", () => Response.json(null), "no vectors"],
    ["too few vectors", data(), "0 vectors for 1"],
    ["too many", data({ index: 0, embedding: vector }, { index: 1, embedding: vector }), "2 vectors for 1"],
    [
      "an index twice",
      data({ index: 0, embedding: vector }, { index: 0, embedding: vector }),
      "not numbered",
    ],
    ["an index that is none", data({ index: 7, embedding: vector }), "not numbered"],
    ["no index", data({ embedding: vector }), "not numbered"],
    ["another dimension", data({ index: 0, embedding: [1, 2] }), "2 dimensions, not 1536"],
    ["Base64", data({ index: 0, embedding: "AAAA" }), "not a vector"],
    [
      "numbers beyond a double",
      () => new Response(`{"data":[{"index":0,"embedding":[${Array(1536).fill("1e999").join()}]}]}`),
      "not finite",
    ],
  ] satisfies [string, Fate, string][])("by %s is refused", async (_, fate, reason) => {
    await expect(embed(new EndpointDouble(fate))).rejects.toThrow(reason);
  });

  it("by hanging is given up, and its call cancelled", async () => {
    const signals: (AbortSignal | null)[] = [];
    const double = new EndpointDouble((_, signal) => {
      signals.push(signal);
      return new Promise(() => {});
    });
    await expect(embed(double, 5)).rejects.toThrow(DeadlineExceeded);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  it("by hanging in the middle of its answer is given up too", async () => {
    const body = new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode("{")) });
    await expect(embed(new EndpointDouble(() => new Response(body)), 5)).rejects.toThrow(DeadlineExceeded);
  });

  it("by an answer without end is given up after 16 MiB", async () => {
    const MIB = 1024 * 1024;
    let read = 0;
    const endless = new ReadableStream({
      pull: (stream) => {
        read++;
        stream.enqueue(new Uint8Array(MIB).fill(0x20));
        if (read === 24) stream.close();
      },
    });
    const double = new EndpointDouble(() => new Response(endless));
    await expect(embed(double)).rejects.toThrow("more than 16 MiB");
    expect(read).toBeLessThan(20);
    expect(double.calls).toHaveLength(1);
  });

  it("never shows the key, nor what the endpoint says of it", async () => {
    const seen = vi.spyOn(console, "error");
    const fates: Fate[] = [
      status(401, {}, { error: { code: `bad_${KEY}`, message: `Incorrect API key: ${KEY}` } }),
      () => Promise.reject(new Error(`cannot send ${KEY}`)),
      () => new Response(KEY),
    ];
    for (const fate of fates) {
      const error: unknown = await embed(new EndpointDouble(fate, fate, fate)).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(Error);
      expect(`${String(error)} ${JSON.stringify(error)} ${(error as Error).stack}`).not.toContain(KEY);
    }
    expect(JSON.stringify(seen.mock.calls)).not.toContain(KEY);
    seen.mockRestore();
  });
});

it("names the space by model, dimensions, prompts and host, and does not tell the host", () => {
  const named = (url: string, name: string, dimensions: number) =>
    new EndpointEmbedder(new EndpointDouble().at(url), { name, dimensions }).model;
  const url = "https://embeddings.test/v1/embeddings";
  const names = [
    named(url, "text-embedding-3-small", 1536),
    named(url, "text-embedding-3-small", 512),
    named("https://other.test/v1/embeddings", "text-embedding-3-small", 1536),
    named(url, "embeddinggemma", 768),
  ];
  expect(new Set(names).size).toBe(4);
  expect(names[3]).toMatch(/^embeddinggemma;768;prompts=embeddinggemma;at=[0-9a-f]{8}$/);
  expect(names.join()).not.toContain(".test");
  expect(named(`${url}?api-version=1`, "embeddinggemma", 768)).toBe(names[3]);
});

it("reads a long text in pieces that the endpoint takes", async () => {
  const double = new EndpointDouble((call, signal) => {
    expect(Math.max(...call.body.input.map((text) => text.length))).toBeLessThan(8192 * 4);
    return answer(call, signal);
  });
  const [vector] = await new EndpointEmbedder(double.at(), small).embed(["a word ".repeat(10_000)]);
  expect(vector).toHaveLength(1536);
});
