import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { EmbeddedEmbedder } from "../../src/platform/embeddings/embedded.ts";
import { EmbeddedModel, loadModel } from "../../src/platform/embeddings/embedded/model.ts";
import { WordModel } from "../../src/platform/embeddings/embedded/word-model.ts";
import { Vocabulary } from "../../src/platform/embeddings/embedded/vocabulary.ts";
import { wordPieces } from "../../src/platform/embeddings/embedded/word-piece.ts";
import { embedderContract } from "./contract.ts";
import check from "./static-en-256.check.json";

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
    model = await loadModel(env.ASSETS, "static-en-256");
  });

  it.each(check.cases)("embeds as its makers did: $text", ({ text, pieces, vector }) => {
    expect(model.pieces(text)).toHaveLength(pieces);
    // The makers wrote zeros for a text of which nothing is known.
    const embedded = model.embed(text) ?? new Float32Array(256);
    for (const [i, expected] of vector.entries()) expect(embedded[i]).toBeCloseTo(expected, 3);
  });

  it("has no vector for a text of which it knows nothing", () => {
    expect(model.embed("日本語 🦒")).toBeNull();
  });

  it("brings what means the same closer than what does not", () => {
    const cosine = (a: string, b: string) => {
      const [x, y] = [model.embed(a), model.embed(b)];
      return [...(x ?? [])].reduce((sum, value, i) => sum + value * (y?.[i] ?? 0), 0);
    };
    expect(cosine("Where do I deploy?", "Project Foo lives at fly.io")).toBeGreaterThan(
      cosine("Where do I deploy?", "Lunch is at noon on Fridays"),
    );
  });

  it("refuses a table that does not fit its vocabulary", async () => {
    const table = await (
      await env.ASSETS.fetch("https://assets/model/static-en-256/model.safetensors")
    ).arrayBuffer();
    expect(() => new EmbeddedModel("torn", bytesOf("one\ntwo\n"), table)).toThrow(/torn/);
  });
});

it("rejects, naming the file, where the model is not among the assets", async () => {
  await expect(loadModel(env.ASSETS, "no-such-model")).rejects.toThrow(
    /no-such-model\/(vocab.txt|model.safetensors)/,
  );
});

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
