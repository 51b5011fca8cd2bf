import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { EmbeddedEmbedder } from "../../../src/platform/embeddings/embedded.ts";
import { WordModel } from "../../../src/platform/embeddings/embedded/word-model.ts";
import type { Embedder } from "../../../src/platform/embeddings/embedder.ts";
import { QueryVectorCache } from "../../../src/platform/embeddings/query-vector-cache.ts";
import { MisconfiguredEmbedder } from "../../../src/platform/embeddings/embedders-from-bindings.ts";
import { BoundedCache } from "../../../src/domain/bounded-cache.ts";
import { embedderContract, texts } from "./contract.ts";

const shared = new WordModel();
embedderContract("remembered queries", () => new QueryVectorCache(new EmbeddedEmbedder(env.ASSETS, shared)), {
  known: texts,
});

/** Vectors of four bytes, and how often each text was asked for. */
function counting() {
  const asked: string[] = [];
  const embedder: Embedder = {
    model: "counting",
    dimensions: 1,
    embed: async (given) => {
      asked.push(...given);
      return given.map((text) => (text === "" ? null : Float32Array.of(text.length)));
    },
  };
  return { asked, embedder };
}
const query = { as: "query" } as const;

it("asks once for a query, and each time for a document", async () => {
  const { asked, embedder } = counting();
  const remembered = new QueryVectorCache(embedder);
  const first = await remembered.embed(["a", "bb", ""], query);
  expect(await remembered.embed(["", "bb", "ccc", "a"], query)).toEqual([
    null,
    first[1],
    Float32Array.of(3),
    first[0],
  ]);
  expect(asked).toEqual(["a", "bb", "", "ccc"]);
  await remembered.embed(["a"]);
  await remembered.embed(["a"], { as: "document" });
  expect(asked).toEqual(["a", "bb", "", "ccc", "a", "a"]);
});

it("forgets the oldest, by number and by bytes", async () => {
  const { asked, embedder } = counting();
  const few = new QueryVectorCache(embedder, { queries: 2 });
  for (const text of ["a", "b", "c", "a"]) await few.embed([text], query);
  expect(asked).toEqual(["a", "b", "c", "a"]);
  asked.length = 0;
  const small = new QueryVectorCache(embedder, { bytes: 40 });
  const long = "long".repeat(10);
  for (const text of ["a", "b", long, long, "a"]) await small.embed([text], query);
  expect(asked.filter((text) => text === long)).toHaveLength(2);
});

it("keeps nothing of a failure, and takes no vector of another request's that is still to come", async () => {
  const down = new Error("down");
  let fail = true;
  const { embedder } = counting();
  const flaky = {
    ...embedder,
    embed: async (given: readonly string[]) => (fail ? Promise.reject(down) : embedder.embed(given)),
  };
  const remembered = new QueryVectorCache(flaky);
  await expect(remembered.embed(["a"], query)).rejects.toBe(down);
  fail = false;
  expect(await remembered.embed(["a"], query)).toEqual([Float32Array.of(1)]);
});

it("answers whole although others push out what it knew meanwhile", async () => {
  const { embedder } = counting();
  const remembered = new QueryVectorCache(embedder, { queries: 1 });
  await remembered.embed(["a"], query);
  const [both] = await Promise.all([remembered.embed(["a", "bb"], query), remembered.embed(["ccc"], query)]);
  expect(both).toEqual([Float32Array.of(1), Float32Array.of(2)]);
});

it("tells what its embedder tells", () => {
  expect(new QueryVectorCache(new MisconfiguredEmbedder("why")).problem).toBe("why");
  const { embedder } = counting();
  expect(new QueryVectorCache(embedder)).toMatchObject({
    model: "counting",
    dimensions: 1,
    problem: undefined,
  });
});

it("keeps within the bound when a key is set again, and lets go of what is over it alone", () => {
  const recent = new BoundedCache<string>(10, { most: 10, of: (value) => value.length });
  for (const value of ["four", "nine nine", "four"]) recent.set("a", value);
  recent.set("b", "sixsix");
  expect([recent.get("a"), recent.get("b")]).toEqual(["four", "sixsix"]);
  recent.set("c", "more than ten");
  expect(["a", "b", "c"].map((key) => recent.get(key))).toEqual([undefined, undefined, undefined]);
});
