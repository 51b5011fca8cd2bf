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
    "What it does not do",
  ]);
});

/** The names in a table of options (`OptionNames`) of the adapters, with the page of each: that of all for what several share. */
const options = globSync("packages/adapters/src/**/*.ts", { cwd: root }).flatMap((file) => {
  const [, adapter = ""] = /src\/([\w-]+)/.exec(file) ?? [];
  const own = `docs/adapters/${adapter}.md`;
  const page = pages.includes(own) ? own : "docs/adapters/README.md";
  const tables = readFileSync(join(root, file), "utf8").matchAll(
    /const \w+: OptionNames<[^=]*> = (\{[^;]*\});/g,
  );
  return Array.from(tables, ([, table = ""]) =>
    Array.from(table.matchAll(/(\w+): (?:true|\{)/g), ([, option = ""]) => ({ page, option })),
  ).flat();
});

it("names every option of the adapters, those of all in the README", () => {
  expect(options.length).toBeGreaterThan(100);
  const all = readFileSync(join(root, "docs/adapters/README.md"), "utf8");
  const absent = options.filter(({ page, option }) => {
    const code = `${all}${readFileSync(join(root, page), "utf8")}`.match(/`[^`\n]+`/g) ?? [];
    return !code.some((span) => new RegExp(`\\b${option}\\b`).test(span));
  });
  expect(absent).toEqual([]);
});
