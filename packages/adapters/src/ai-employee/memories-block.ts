import { startOfTag } from "../../../../src/domain/conversation/stored-text.ts";

const START = "<memories>\n";
const END = "</memories>";
const TAG = startOfTag("memories");
const BREAK = /[\n\r\v\f\u0085\u2028\u2029]/g;
/** Characters of a line without its key and value: `[]: ` and the line break. */
const AROUND = 5;
const CHARACTERS_PER_TOKEN = 4;

type Entry = { key: string; value: unknown };

/**
 * Formats entries for a prompt, one on a line: `[key]: <JSON value>`. Stops at the first that exceeds `maxTokens` of
 * four characters each. As in the SDK, the closing tag does not count. Null if there are none.
 */
export async function memoriesBlock(
  entries: AsyncIterable<Entry> | Iterable<Entry>,
  maxTokens: number,
): Promise<string | null> {
  const most = maxTokens * CHARACTERS_PER_TOKEN;
  let text = "";
  for await (const { key, value } of entries) {
    if (value === null || value === undefined) continue;
    text ||= START;
    const line = `[${inert(key)}]: ${inert(JSON.stringify(value))}\n`;
    if (text.length + line.length > most) break;
    text += line;
  }
  return text === "" ? null : text + END;
}

/** The most entries under the prefix that can fit, but at least one. */
export const mostThatFit = (prefix: string, maxTokens: number): number =>
  Math.max(1, (maxTokens * CHARACTERS_PER_TOKEN - START.length) / (prefix.length + AROUND + 1));

/** Escapes stored text that could end the block or imitate a line. JSON escapes keep the value the same. */
const inert = (text: string): string => text.replaceAll(TAG, escaped).replaceAll(BREAK, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
