import { concatBytes } from "./concat-bytes.ts";

/** A JSON document in pieces: text, and values that are JSON in UTF-8 already and go out as they are. */
export type JsonPieces = (string | Uint8Array)[];

const encoder = new TextEncoder();

/** The document in UTF-8. By hand, as reading a Blob costs more than all else that a small answer takes. */
export function inUtf8(pieces: JsonPieces): Uint8Array {
  const [only] = pieces;
  if (pieces.length === 1 && only instanceof Uint8Array) return only;
  return concatBytes(encodedParts(pieces));
}

/** All text is encoded in one call, which is what a call costs: a page of 50 messages has a hundred pieces of text. */
function encodedParts(pieces: JsonPieces): Uint8Array[] {
  const text = pieces.filter((piece) => typeof piece === "string").join("");
  const encoded = encoder.encode(text);
  // Only where every character is one byte do the pieces lie where their lengths say.
  if (encoded.byteLength !== text.length)
    return pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  let start = 0;
  return pieces.map((piece) => {
    if (typeof piece !== "string") return piece;
    start += piece.length;
    return encoded.subarray(start - piece.length, start);
  });
}
