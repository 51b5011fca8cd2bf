// The code blocks of a page, as programs that a compiler reads.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "../../../..");

/** `name`: the page and the line of the block. `only`: the one SDK and major that it is for. */
export type CodeBlock = { name: string; language: string; only: string | undefined; text: string };

const BLOCK =
  /(?:^<!-- names(?: with (\w+ \d+))?\n?([^]*?)-->\n\n?)?^( *)```(ts|tsx|js|json|jsonc|diff)\n([^]*?)^ *```$/gm;

/**
 * The blocks of TypeScript, JavaScript and JSON of a page. A comment before a block, `names`, declares what its reader has
 * already; `with ai 7` in it names the only version that the block is for. Of a `diff`, the code after the change.
 */
export function codeBlocks(page: string): CodeBlock[] {
  const text = readFileSync(join(root, page), "utf8");
  const blocks: CodeBlock[] = [];
  for (const match of text.matchAll(BLOCK)) {
    const [, only, names = "", indent = "", fence = "", body = ""] = match;
    const code = body.replaceAll(new RegExp(`^${indent}`, "gm"), "");
    const after = fence === "diff" ? code.replaceAll(/^-.*\n/gm, "").replaceAll(/^[+ ] ?/gm, "") : code;
    const line = text.slice(0, match.index + match[0].indexOf("```")).split("\n").length;
    blocks.push({
      name: `${page.replaceAll("/", "-").replace(/\.md$/, "")}-${line}`,
      language: fence === "diff" ? "ts" : fence,
      only,
      text: `${names}\n${after}`,
    });
  }
  return blocks;
}
