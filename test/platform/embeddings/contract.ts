import { describe, expect, it } from "vitest";
import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import type { EmbedAs, Embedder, Vector } from "../../../src/platform/embeddings/embedder.ts";

type Given = {
  /** At least three texts that the model has vectors for, of different meanings. */
  known: readonly string[];
  /** One whose model never answers; absent for what asks nobody. */
  hanging?: () => Embedder;
};

/** The contract on which callers of any embedder rely. */
export function embedderContract(name: string, make: () => Embedder, { known, hanging }: Given): void {
  const [first = "", second = ""] = known;
  const length = (vector: Vector | undefined) => Math.hypot(...(vector ?? []));

  describe.each<EmbedAs>(["query", "document"])(`the embedder contract, by ${name}, for a %s`, (as) => {
    it("answers one unit vector a text, in order", async () => {
      const embedder = make();
      const vectors = await embedder.embed(known, { as });
      expect(vectors).toHaveLength(known.length);
      for (const [i, vector] of vectors.entries()) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(embedder.dimensions);
        expect(length(vector)).toBeCloseTo(1, 4);
        const [alone] = await embedder.embed([known[i] ?? ""], { as });
        expect(cosine(alone, vector)).toBeCloseTo(1, 4);
      }
      expect(cosine(vectors[0], vectors[1])).toBeLessThan(0.99);
    });

    it("answers null for a text that holds nothing, among others too", async () => {
      const texts = [first, "  ", second, "", "\n\t"];
      const vectors = await make().embed(texts, { as });
      expect(vectors.map((vector) => vector === null)).toEqual([false, true, false, true, true]);
      expect(await make().embed(["", " "], { as })).toEqual([null, null]);
    });

    it("answers nothing for no text", async () => {
      expect(await make().embed([], { as })).toEqual([]);
    });

    it("takes more texts than a batch", async () => {
      const texts = Array.from({ length: 250 }, (_, i) => known[i % known.length] ?? "");
      const vectors = await make().embed(texts, { as });
      expect(vectors).toHaveLength(250);
      expect(cosine(vectors[249], vectors[249 % known.length])).toBeCloseTo(1, 4);
    });

    it("reads a text of 32 KiB to its end", async () => {
      const of = (text: string, size: number) =>
        `${text}. `.repeat(Math.ceil(size / text.length)).slice(0, size);
      const begun = of(first, 20_000);
      const [whole, beginning, end] = await make().embed([begun + of(second, 12_000), begun, second], { as });
      expect(length(whole)).toBeCloseTo(1, 4);
      expect(cosine(whole, end)).toBeGreaterThan(cosine(beginning, end) + 0.1);
    });

    it.runIf(hanging !== undefined)("gives up when it is told to", async () => {
      await expect(hanging?.().embed([first], { as, withinMs: 5 })).rejects.toThrow(DeadlineExceeded);
    });
  });

  it(`${name} takes a text for a document unless told otherwise`, async () => {
    const embedder = make();
    expect(await embedder.embed([first])).toEqual(await embedder.embed([first], { as: "document" }));
  });
}

export const cosine = (a: Vector | undefined, b: Vector | undefined): number =>
  [...(a ?? [])].reduce((sum, x, i) => sum + x * (b?.[i] ?? 0), 0);

type CheckedModel = {
  pieces: (text: string) => readonly number[];
  embed: (text: string) => Vector | Promise<Vector>;
};
type Check = { text: string; pieces: number; vector: number[] };

/** The makers' vectors of a model in the Worker, with 4 decimals. They wrote zeros for a text of which nothing is known. */
export function checkVectors(checks: readonly Check[], load: () => Promise<CheckedModel>): void {
  it.each(checks.filter(({ pieces }) => pieces > 0))(
    "embeds as its makers did: $text",
    async ({ text, pieces, vector }) => {
      const model = await load();
      expect(model.pieces(text)).toHaveLength(pieces);
      expect(cosine(await model.embed(text), Float32Array.from(vector))).toBeGreaterThan(0.9999);
    },
  );

  it.each(checks.filter(({ pieces }) => pieces === 0))(
    "has no vector, as by its makers, of '$text'",
    async ({ text, vector }) => {
      expect(new Set(vector)).toEqual(new Set([0]));
      expect(await (await load()).embed(text)).toBeNull();
    },
  );
}

/** Texts of different meanings. */
export const texts = [
  "The ferry to the island leaves at seven",
  "Our cat sleeps on warm laptops",
  "An invoice of March is still unpaid",
];
