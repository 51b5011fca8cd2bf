// The packages have one name each (docs/internals/decisions.md). Another project has the former one.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const FORMER = ["cairn", "memory"].join("-");
/** Two middlewares of GemStack: the memory that Cairn injects, and extracts. */
const MIDDLEWARE = new RegExp(`"${FORMER}-(?:inject|extract)"`);
/** The sentence that says who has the former name. */
const DECISION = `installs a command \`${FORMER}\``;

it("names no package by its former name", () => {
  const files = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(Boolean);
  expect(files.length).toBeGreaterThan(500);
  const named = files.flatMap((file) =>
    readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line, i) =>
        line.includes(FORMER) && !MIDDLEWARE.test(line) && !line.includes(DECISION)
          ? [`${file}:${i + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(named).toEqual([]);
});
