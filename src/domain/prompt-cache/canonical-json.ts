import type { Json } from "../schema/bounds.ts";

/** Output to write: text as it is, or a value. */
type Part = { text: string } | { value: Json };

/**
 * The one text of a JSON value: no white space, object keys sorted by their UTF-16 code units, numbers and strings
 * as `JSON.stringify` writes them (RFC 8785). Not recursive: a body of brackets only must not end the stack.
 */
export function canonicalJson(value: Json): string {
  const written: string[] = [];
  const todo: Part[] = [{ value }];
  for (let part = todo.pop(); part !== undefined; part = todo.pop()) {
    if ("text" in part) written.push(part.text);
    else if (Array.isArray(part.value)) push(todo, listed("[", part.value.map(element), "]"));
    else if (typeof part.value === "object" && part.value !== null)
      push(todo, listed("{", Object.entries(part.value).toSorted(byKey).map(member), "}"));
    else written.push(JSON.stringify(part.value));
  }
  return written.join("");
}

const element = (value: Json): Part[] => [{ value }];
const member = ([key, value]: [string, Json]): Part[] => [{ text: `${JSON.stringify(key)}:` }, { value }];
const byKey = ([a]: [string, Json], [b]: [string, Json]): number => (a < b ? -1 : 1);

function listed(open: string, items: Part[][], close: string): Part[] {
  const inside = items.flatMap((item, i) => (i === 0 ? item : [{ text: "," }, ...item]));
  return [{ text: open }, ...inside, { text: close }];
}

/** Pushes the parts in reverse, so that the first is next. A loop, as the number of arguments is limited. */
function push(todo: Part[], parts: Part[]): void {
  for (const part of parts.toReversed()) todo.push(part);
}
