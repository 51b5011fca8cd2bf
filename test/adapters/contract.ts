// A table of what a contract says, and of the tests that show it, is itself tested: every test in it exists, and runs.
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** A sentence of the contract, and the names of the tests that show it. */
export type Shown = readonly [sentence: string, ...tests: [string, ...string[]]];

export function everySentenceIsShown(sentences: readonly Shown[], files: readonly string[]): void {
  const source = files.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
  it.each(sentences)("has a test that shows: %s", (_, ...tests) => {
    for (const name of tests)
      expect(source, name).toMatch(new RegExp(`\\bit\\(\\s*${escaped(JSON.stringify(name))}`));
  });
}

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
