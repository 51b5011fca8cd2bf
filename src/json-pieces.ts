/** A JSON document in pieces: text, and values that are JSON in UTF-8 already and go out as they are. */
export type JsonPieces = (string | Uint8Array)[];

const encoder = new TextEncoder();

/** The document in UTF-8. By hand, as reading a Blob costs more than all else that a small answer takes. */
export function inUtf8(pieces: JsonPieces): Uint8Array<ArrayBuffer> {
  const parts = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  const whole = new Uint8Array(parts.reduce((bytes, { byteLength }) => bytes + byteLength, 0));
  let start = 0;
  for (const part of parts) {
    whole.set(part, start);
    start += part.byteLength;
  }
  return whole;
}
