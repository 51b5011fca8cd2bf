// The path of a test says what it tests.
import { existsSync, globSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
/** These test no folder of the code: tests of the tests, histories over all parts, tests of the repository. */
const OTHERS = ["", "faults", "node"];

it("each folder of tests has the path of the code that it tests", () => {
  const files = globSync("test/**/*.test.ts", { cwd: root });
  const folders = [...new Set(files.map((file) => relative("test", dirname(file))))];
  expect(folders.length).toBeGreaterThan(50);
  const isCode = (folder: string) =>
    [folder, `src/${folder}`].some((path) => existsSync(join(root, path))) || OTHERS.includes(folder);
  expect(folders.filter((folder) => !isCode(folder))).toEqual([]);
});
