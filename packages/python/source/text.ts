// Python text of a width that fits a screen.

const WIDTH = 110;

/** Lines of at most the width, broken at spaces; a longer word has a line of its own. */
export function wrapped(text: string, begin: string, then = begin): string[] {
  const lines: string[] = [];
  let line = begin;
  for (const word of text.split(/\s+/)) {
    const isFirst = line === begin || line === then;
    if (!isFirst && line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = then + word;
    } else line += isFirst ? word : ` ${word}`;
  }
  return [...lines, line];
}

/** One line of Python, or items in lines of their own: `head` ends with a bracket, `tail` begins with one. */
export function listed(head: string, items: readonly string[], tail: string, indent = ""): string[] {
  const one = `${indent}${head}${items.join(", ")}${tail}`;
  if (one.length <= WIDTH) return [one];
  const lines: string[] = [];
  let line = `${indent}   `;
  for (const item of items) {
    if (line.trim() !== "" && line.length + item.length + 2 > WIDTH) {
      lines.push(line);
      line = `${indent}   `;
    }
    line += ` ${item},`;
  }
  return [`${indent}${head}`, ...lines, line, `${indent}${tail}`];
}

/** `ttlMs` as `ttl_ms`. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).replaceAll("-", "_");

/** `too-small` as `TooSmall`. */
export const pascalCase = (name: string): string =>
  name.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** Text within a docstring. */
export const inDocstring = (text: string): string =>
  text.replaceAll("\\", "\\\\").replaceAll('"""', '\\"\\"\\"');

/** The words that no name in Python may be. */
export const isKeyword = (name: string): boolean => KEYWORDS.has(name);

const KEYWORDS = new Set(
  "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split(
    " ",
  ),
);
