/** The chunks as one. */
export function concatBytes(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((size, { byteLength }) => size + byteLength, 0));
  let start = 0;
  for (const chunk of chunks) {
    all.set(chunk, start);
    start += chunk.byteLength;
  }
  return all;
}
