// The pages of docs/, and the order in which docs/README.md lists them.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ON_GITHUB, targetOf } from "../../dev/links.ts";

export const root = join(import.meta.dirname, "../../..");
export type Item = { text: string; link: string };

const INDEX = "docs/README.md";

export const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** Paths in the repository. */
export const pages = (): string[] => globSync("docs/**/*.md", { cwd: root }).toSorted();

/** A README is the index of its folder. */
export const siteFileOf = (page: string): string =>
  page.replace(/^docs\//, "").replace(/(^|\/)README\.md$/, "$1index.md");

/** The address of a page on the site, without its base. */
export const addressOf = (page: string): string =>
  `/${siteFileOf(page)
    .replace(/(^|\/)index\.md$/, "$1")
    .replace(/\.md$/, "")}`;

const titleOf = (page: string): string => /^# (.+)$/m.exec(read(page))?.[1] ?? page;

/** A list of links as items of the sidebar. One that leads to a folder's README stands for the pages of the folder. */
function itemsOf(section: string): Item[] {
  return Array.from(section.matchAll(/\[([^\]]+)\]\(([^)]+\.md)\)/g)).flatMap(([, text = "", link = ""]) => {
    const page = targetOf(link, INDEX)?.path ?? INDEX;
    if (!page.startsWith("docs/")) return [{ text, link: `${ON_GITHUB}${page}` }];
    const item = { text, link: addressOf(page) };
    if (!page.endsWith("/README.md")) return [item];
    const folder = page.slice(0, -"README.md".length);
    const others = pages().filter((one) => one.startsWith(folder) && one !== page);
    return [item, ...others.map((one) => ({ text: titleOf(one), link: addressOf(one) }))];
  });
}

/** The parts of docs/README.md, each with its pages. */
export const parts = (): { text: string; items: Item[] }[] =>
  read(INDEX)
    .split(/^## /m)
    .slice(1)
    .map((section) => ({ text: section.slice(0, section.indexOf("\n")), items: itemsOf(section) }));
