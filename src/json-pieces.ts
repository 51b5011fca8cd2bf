/** A JSON document in pieces: text, and values that are JSON in UTF-8 already and go out as they are. */
export type JsonPieces = (string | Uint8Array)[];
