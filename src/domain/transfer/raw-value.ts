import { type JsonPieces } from "../json-pieces.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const [LF, CR, SPACE, TAB] = [0x0a, 0x0d, 0x20, 0x09];
const WHITE: readonly (number | undefined)[] = [SPACE, TAB];

/**
 * An object with a field more, whose value is JSON and keeps its bytes: as it is where it fits into a line, and where it
 * holds line breaks or has white space around it, as a text in the field `<name>Text`.
 */
export function inlineOrText(fields: Record<string, unknown>, name: string, json: Uint8Array): JsonPieces {
  const begun = JSON.stringify(fields).slice(0, -1);
  const fits =
    !json.includes(LF) && !json.includes(CR) && !WHITE.includes(json[0]) && !WHITE.includes(json.at(-1));
  if (fits) return [`${begun},"${name}":`, json, "}"];
  return [`${begun},"${name}Text":${JSON.stringify(decoder.decode(json))}}`];
}
