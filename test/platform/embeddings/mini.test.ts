import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import { Vocabulary } from "../../../src/platform/embeddings/embedded/vocabulary.ts";
import { MiniEmbedder } from "../../../src/platform/embeddings/mini.ts";
import { Mini, SharedMini } from "../../../src/platform/embeddings/mini/mini.ts";
import { Transformer } from "../../../src/platform/embeddings/mini/transformer.ts";
import { Isolate } from "../../../src/platform/isolate.ts";
import { checkVectors, texts } from "./contract.ts";
import check from "./mini-en-256.check.json";

const shared = new SharedMini();
const mini = () => new MiniEmbedder(env.ASSETS, shared);
const PATH = "mini-en-256/model.safetensors";

// The last text has more pieces than a window.
checkVectors(check.cases, async () => {
  const model = await shared.get(env.ASSETS);
  return { pieces: (text) => model.pieces(text), embed: (text) => model.embed(text, async () => {}) };
});

it("gives other calls a turn between two texts", async () => {
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  await mini().embed([texts.join(". ").repeat(60)]);
  clearInterval(timer);
  expect(turns).toBeGreaterThanOrEqual(5);
});

it("embeds texts at once as it does one by one", async () => {
  const long = texts.map((text) => `${text}. `.repeat(30));
  const one = [];
  for (const text of long) one.push(...(await mini().embed([text])));
  const all = await Promise.all(long.map((text) => mini().embed([text])));
  expect(all.flat()).toEqual(one);
});

it("takes its memory from the vectors of the isolate", async () => {
  const isolate = new Isolate();
  const before = isolate.vectors.bytes;
  await isolate.mini.get(env.ASSETS);
  expect(isolate.vectors.bytes).toBe(before - 10 * 1024 * 1024);
});

it("reads the vocabulary of an isolate once, whichever model is asked first", async () => {
  const read: string[] = [];
  const fetch = async (url: string) => {
    read.push(url.replace("https://assets/model/", ""));
    return env.ASSETS.fetch(url);
  };
  const isolate = new Isolate();
  await Promise.all([isolate.mini.get({ fetch }), isolate.wordModel.get({ fetch })]);
  expect(read.toSorted()).toEqual([PATH, "static2-en-256/model.safetensors", "vocab.txt"]);
});

it("begins no call that ends too late", async () => {
  const asked: string[] = [];
  const fetch = async (url: string) => {
    asked.push(url);
    return new Response(null, { status: 404 });
  };
  const embedder = new MiniEmbedder({ fetch }, new SharedMini());
  const many = Array.from({ length: 100 }, () => "a message of seven words, repeated. ".repeat(100));
  await expect(embedder.embed(many, { withinMs: 5_000 })).rejects.toThrow(DeadlineExceeded);
  expect(asked).toEqual([]);
});

describe("a file that is missing or torn", () => {
  it("fails its call, and a later one finds what has come", async () => {
    let answer = async (): Promise<Response> => new Response(null, { status: 404 });
    const fetch = async (url: string) => (url.endsWith(PATH) ? answer() : env.ASSETS.fetch(url));
    const embedder = new MiniEmbedder({ fetch }, new SharedMini());
    await expect(embedder.embed(["x"])).rejects.toThrow(PATH);
    answer = async () => new Response("torn");
    await expect(embedder.embed(["x"])).rejects.toThrow(/bytes/);
    answer = async () => env.ASSETS.fetch(`https://assets/model/${PATH}`);
    expect(await embedder.embed(["x"])).toEqual([expect.any(Float32Array)]);
  });

  it("is refused with another vocabulary", async () => {
    const { body } = await env.ASSETS.fetch(`https://assets/model/${PATH}`);
    const transformer = await Transformer.load(body);
    const two = new Vocabulary(new TextEncoder().encode("one\ntwo\n"), 2);
    expect(() => new Mini(two, transformer)).toThrow(/torn/);
  });
});
