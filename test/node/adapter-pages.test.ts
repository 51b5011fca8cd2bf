// A reader of one adapter's page finds the same parts at the same places on the next.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "../..");
const pages = globSync("docs/adapters/*.md", { cwd: root }).filter((page) => !page.endsWith("README.md"));

it.each(pages)("%s has the parts of an adapter's page", (page) => {
  const [intro = "", ...parts] = readFileSync(join(root, page), "utf8").split(/^## /m);
  // A title, a sentence, the install line, a program.
  expect(intro).toMatch(/^# .+\n\n[^]+?^```sh\nnpm install edgecairn\b[^]*?^```[jt]s\n/m);
  const titles = parts.map((part) => part.split("\n")[0]);
  expect(titles.filter((title) => title !== "Calls to Cairn")).toEqual([
    "In Cairn",
    "Options",
    "When Cairn is slow or down",
    "What it does not do",
  ]);
});
