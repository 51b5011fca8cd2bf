// A table of what a contract says, and of the tests that show it, is itself tested: each test that it names is in the file.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** The sentences of a contract, each with the names of the tests that show it. */
export type Contract = readonly (readonly [sentence: string, tests: readonly [string, ...string[]]])[];

/** Registers a test for each sentence: that the tests which show it are in one of these files beside this one. */
export function showsEvery(contract: Contract, files: readonly string[]): void {
  const source = files.map((file) => readFileSync(join(import.meta.dirname, file), "utf8")).join("\n");
  it.each(contract)("has a test that shows: %s", (_, tests) => {
    for (const name of tests)
      expect(source, name).toMatch(new RegExp(`^\\s*it\\(\\s*${escaped(JSON.stringify(name))}`, "m"));
  });
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
