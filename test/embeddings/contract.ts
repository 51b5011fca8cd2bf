import { describe, expect, it } from "vitest";
import type { Embedder } from "../../src/embeddings/embedder.ts";

/** What callers of any embedder rely on. `known` holds texts that the model has a vector for. */
export function embedderContract(name: string, make: () => Embedder, known: readonly string[]): void {
  describe(`the embedder contract, by ${name}`, () => {
    it("answers one unit vector a text, in order", async () => {
      const embedder = make();
      const vectors = await embedder.embed(known);
      expect(vectors).toHaveLength(known.length);
      for (const [i, vector] of vectors.entries()) {
        expect(vector).toBeInstanceOf(Float32Array);
        expect(vector).toHaveLength(embedder.dimensions);
        expect(Math.hypot(...(vector ?? []))).toBeCloseTo(1, 4);
        expect((await embedder.embed([known[i] ?? ""]))[0]).toEqual(vector);
      }
    });

    it("answers null for a text that holds nothing, among others too", async () => {
      const [first, empty, last] = await make().embed([known[0] ?? "", "  ", known[1] ?? ""]);
      expect(empty).toBeNull();
      expect(first).not.toBeNull();
      expect(last).not.toBeNull();
    });

    it("answers nothing for no text", async () => {
      expect(await make().embed([])).toEqual([]);
    });

    it("takes more texts than a batch", async () => {
      const texts = Array.from({ length: 250 }, (_, i) => known[i % known.length] ?? "");
      const vectors = await make().embed(texts);
      expect(vectors).toHaveLength(250);
      expect(vectors[249]).toEqual(vectors[249 % known.length]);
    });
  });
}
