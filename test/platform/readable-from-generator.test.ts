import { expect, it } from "vitest";
import { readableFromGenerator } from "../../src/platform/readable-from-generator.ts";

it("takes a reader that leaves while a chunk is made for no failure of the chunks", async () => {
  const chunk = Promise.withResolvers<Uint8Array>();
  const failures: unknown[] = [];
  const reader = readableFromGenerator(of(chunk.promise), (reason) => failures.push(reason)).getReader();
  const left = [reader.read(), reader.cancel("hung up")];
  chunk.resolve(new Uint8Array(1));
  await Promise.allSettled(left);
  expect(failures).toEqual([]);
});

it("tells of the failure of a chunk, which ends the stream", async () => {
  const failures: unknown[] = [];
  const chunks = of(Promise.reject(new Error("the store is away")));
  const reader = readableFromGenerator(chunks, (reason) => failures.push(reason)).getReader();
  await expect(reader.read()).rejects.toThrow("the store is away");
  expect(failures).toEqual([new Error("the store is away")]);
});

async function* of(...chunks: Promise<Uint8Array>[]): AsyncGenerator<Uint8Array, void> {
  for (const chunk of chunks) yield await chunk;
}
