import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { EmbeddedEmbedder } from "../../../src/platform/embeddings/embedded.ts";
import { EmbeddedModel } from "../../../src/platform/embeddings/embedded/model.ts";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";
import { Vocabulary } from "../../../src/platform/embeddings/embedded/vocabulary.ts";
import { wordPieces } from "../../../src/platform/embeddings/embedded/word-piece.ts";
import { checkVectors, cosine, embedderContract } from "./contract.ts";
import check from "./static2-en-256.check.json";

const shared = new WordModel();
embedderContract("the embedded model", () => new EmbeddedEmbedder(env.ASSETS, shared), {
  known: check.cases.map(({ text }) => text).filter(known),
});

function known(text: string): boolean {
  return check.cases.some((one) => one.text === text && one.pieces > 0);
}

describe("the model that is shipped", () => {
  let model: EmbeddedModel;
  beforeAll(async () => {
    model = await shared.get(env.ASSETS);
  });

  checkVectors(check.cases, () => shared.get(env.ASSETS));

  it("has no vector for a text of which it knows nothing", () => {
    expect(model.embed("日本語 🦒")).toBeNull();
  });

  it("brings what means the same closer than what does not", () => {
    const near = (a: string, b: string) => cosine(model.embed(a), model.embed(b));
    expect(near("Where do I deploy?", "Project Foo lives at fly.io")).toBeGreaterThan(
      near("Where do I deploy?", "Lunch is at noon on Fridays"),
    );
  });

  it("refuses a table that does not fit its vocabulary", async () => {
    const table = await (
      await env.ASSETS.fetch("https://assets/model/static2-en-256/model.safetensors")
    ).arrayBuffer();
    expect(() => new EmbeddedModel("torn", vocabularyOf(["one", "two"]), table)).toThrow(/torn/);
  });
});

it.each(["vocab.txt", "static2-en-256/model.safetensors"])(
  "rejects, naming the file, where %s is not among the assets",
  async (missing) => {
    const fetch = async (url: string) =>
      url.endsWith(missing) ? new Response(null, { status: 404 }) : env.ASSETS.fetch(url);
    await expect(new WordModel().get({ fetch })).rejects.toThrow(missing);
  },
);

const bytesOf = (text: string) => Uint8Array.from(new TextEncoder().encode(text)).buffer;

const vocabularyOf = (tokens: readonly string[]) =>
  new Vocabulary(new Uint8Array(bytesOf(`${tokens.join("\n")}\n`)), tokens.length);

describe("word pieces", () => {
  const vocabulary = vocabularyOf(["un", "##believ", "##able", "don", "'", "t", "cafe", "日", "!", "$", "5"]);

  it.each([
    ["the longest pieces from the left", "unbelievable", [0, 1, 2]],
    ["marks as words of their own", "don't!", [3, 4, 5, 8]],
    ["symbols too", "$5", [9, 10]],
    ["accents dropped, case folded", "CAFÉ", [6]],
    ["each CJK character a word", "日日", [7, 7]],
    ["nothing of a word that cannot be cut whole", "unbelievers un", [0]],
    ["nothing of a word of more than 100 characters", "t".repeat(101), []],
    ["nothing of no text", " \u0000\t ", []],
  ])("are %s", (_, text, rows) => {
    expect(wordPieces(text, vocabulary)).toEqual(rows);
  });
});
