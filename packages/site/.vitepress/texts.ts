// The files of the site that programs read: each page as Markdown, the two lists for language models, the OpenAPI document.
import type { IncomingMessage, ServerResponse } from "node:http";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { ON_GITHUB, RAW_ON_GITHUB, withLinks } from "../../dev/links.ts";
import { openApiDocument } from "../../dev/openapi.ts";
import { addressOf, pages, read, siteFileOf } from "./pages.ts";

/** Names for the compiler of code blocks, which no reader sees. */
const COMMENTS = /^<!--[^]*?-->\n*/gm;

/** A page's text. Its links to other pages lead to their Markdown, all others to GitHub. */
function markdownOf(page: string): string {
  const folder = posix.dirname(siteFileOf(page));
  const to = (path: string) =>
    path.startsWith("docs/") && path.endsWith(".md")
      ? posix.relative(folder, siteFileOf(path))
      : `${ON_GITHUB}${path}`;
  return withLinks(read(page).replaceAll(COMMENTS, ""), page, to);
}

const llms = (): string =>
  withLinks(read("llms.txt"), "llms.txt", (path) =>
    path.startsWith("docs/") ? siteFileOf(path) : `${RAW_ON_GITHUB}${path}`,
  );

/** All pages in the order of llms.txt. */
function llmsFull(): string {
  const listed = Array.from(read("llms.txt").matchAll(/\]\((docs\/[^)]+\.md)\)/g), ([, page = ""]) => page);
  return listed.map((page) => `<!-- ${addressOf(page)} -->\n\n${markdownOf(page)}`).join("\n");
}

/** Every such file by its path on the site, each made when it is asked for. */
export const texts = (): ReadonlyMap<string, () => string | Promise<string>> =>
  new Map<string, () => string | Promise<string>>([
    ...pages().map((page) => [siteFileOf(page), () => markdownOf(page)] as const),
    ["llms.txt", llms],
    ["llms-full.txt", llmsFull],
    ["openapi.json", async () => JSON.stringify(await openApiDocument())],
  ]);

export async function writeTexts(folder: string): Promise<void> {
  for (const [path, make] of texts()) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), await make());
  }
}

/** Serves them to those who read the site while it is written. Vite asks for a page of docs/ as a script by the same path. */
export function serveText(request: IncomingMessage, response: ServerResponse, next: () => void): void {
  const make = texts().get((request.url ?? "").slice(1));
  if (make === undefined || request.headers["sec-fetch-dest"] === "script") {
    next();
    return;
  }
  const answer = async (): Promise<void> => {
    const text = await make();
    response.setHeader("Content-Type", "text/plain; charset=utf-8");
    response.end(text);
  };
  answer().catch((error: unknown) => {
    response.statusCode = 500;
    response.end(String(error));
  });
}
