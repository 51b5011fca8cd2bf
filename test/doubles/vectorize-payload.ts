// Vectorize's refusals, with the codes and texts that its users report.
import { byteLength } from "../../src/domain/limits.ts";

export type Stored = { vector: VectorizeVector; values: Float32Array; indexed: Record<string, unknown> };

export function refuse(call: string, code: number, text: string): never {
  throw new Error(`VECTOR_${call}_ERROR (code = ${code}): ${text}`);
}

export function checkCount(call: string, ids: readonly string[], most: number): void {
  if (ids.length > most)
    refuse(call, 40007, `too many ids in payload; max id count is ${most}, got ${ids.length}`);
}

/** A vector as it is stored: in its own memory, in 32 bits, its metadata indexed where there is an index by now. */
export function taken(
  call: string,
  vector: VectorizeVector,
  index: { dimensions: number; metadataIndexes: ReadonlySet<string> },
): Stored {
  const { id, namespace, metadata = {} } = vector;
  const values = Float32Array.from(vector.values);
  const [got, expected] = [values.length, index.dimensions];
  if (id === "" || byteLength(id) > 64)
    refuse(call, 40008, `id too long; max is 64 bytes, got ${byteLength(id)} bytes`);
  if (namespace !== undefined && byteLength(namespace) > 64) refuse(call, 40009, "namespace too long");
  if (got !== expected)
    refuse(
      call,
      40012,
      `invalid vector for id="${id}", expected ${expected} dimensions, and got ${got} dimensions`,
    );
  if (!values.every(Number.isFinite)) refuse(call, 40011, `invalid vector for id="${id}"`);
  if (byteLength(JSON.stringify(metadata)) > 10 * 1024) refuse(call, 40023, "metadata too large");
  if (Object.keys(metadata).some((name) => name === "" || /[."]|^\$/.test(name)))
    refuse(call, 40018, "invalid metadata key");
  const indexed = Object.entries(metadata)
    .filter(([name]) => index.metadataIndexes.has(name))
    .map(([name, value]) => [name, typeof value === "string" ? first64Bytes(value) : value]);
  return { vector: { ...vector, metadata: { ...metadata } }, values, indexed: Object.fromEntries(indexed) };
}

function first64Bytes(text: string): string {
  let first = "";
  for (const character of text) {
    if (byteLength(first + character) > 64) break;
    first += character;
  }
  return first;
}
