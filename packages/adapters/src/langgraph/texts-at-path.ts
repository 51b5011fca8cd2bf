/**
 * The texts at a path of a value: `title`, `author.name`, `chapters[*].content`, `authors[0]`, `list[-1]`, `*.name`,
 * `{title,author.name}`; `$` is the whole value as JSON. Other values become texts.
 */
export const textsAt = (value: unknown, path: string): string[] =>
  path === "" || path === "$" ? [jsonOf(value)] : found(value, tokensOf(path)).flatMap(textOf);

const tokensOf = (path: string): string[] => path.match(/\[[^\]]*\]|\{[^}]*\}|[^.[{]+/g) ?? [];

function found(value: unknown, [token, ...rest]: readonly string[]): unknown[] {
  if (token === undefined) return [value];
  return step(value, token).flatMap((next) => found(next, rest));
}

function step(value: unknown, token: string): unknown[] {
  if (typeof value !== "object" || value === null) return [];
  if (token === "*") return Object.values(value);
  if (token.startsWith("{"))
    return token
      .slice(1, -1)
      .split(",")
      .flatMap((path) => found(value, tokensOf(path.trim())));
  if (!token.startsWith("[")) return Object.hasOwn(value, token) ? [Reflect.get(value, token)] : [];
  if (!Array.isArray(value)) return [];
  return token === "[*]" ? value : [value.at(Number.parseInt(token.slice(1), 10))];
}

function textOf(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return [typeof value === "string" ? value : jsonOf(value)];
}

const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2);
