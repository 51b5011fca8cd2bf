import { byteLength } from "../../domain/limits.ts";
import type { VectorRecord } from "./vector-index.ts";

/**
 * The limits of Vectorize. Sizes are bytes. From developers.cloudflare.com/vectorize/platform/limits, but for
 * deletes and gets: these two it only tells in its refusals ("40007 too many ids in payload; max id count is …").
 */
export const vectorizeLimits = {
  upsert: 1_000,
  deletes: 100,
  gets: 20,
  /** Without values and metadata in the answer; with them, 50 (20 in the documents' older editions). */
  topK: 100,
  id: 64,
  namespace: 64,
  /** Bytes of a string that a metadata index holds. The limit of all metadata, 10 KiB, cannot be reached. */
  indexedString: 64,
} as const;

/**
 * The reason why Vectorize always refuses this record, or null. Does not check dimensions: only the index knows them.
 */
export function refusal({ id, namespace, values }: VectorRecord): string | null {
  if (id === "" || byteLength(id) > vectorizeLimits.id) return "an id is 1 to 64 bytes";
  if (namespace === "" || byteLength(namespace) > vectorizeLimits.namespace)
    return "a namespace is 1 to 64 bytes";
  if (!values.every(Number.isFinite)) return "every number of a vector is finite";
  return null;
}
