// Every sentence of a contract with the tests that show it; and a test that they are there.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

export type Sentences = readonly (readonly [sentence: string, tests: readonly string[]])[];

export const showsEvery = (file: string, sentences: Sentences): void =>
  it("has a test for every sentence of the contract", () => {
    const source = readFileSync(file, "utf8");
    const named = sentences.flatMap(([, tests]) => tests);
    expect(named.filter((name) => !source.includes(`it("${name}"`))).toEqual([]);
    expect(sentences.filter(([, tests]) => tests.length === 0)).toEqual([]);
  });
