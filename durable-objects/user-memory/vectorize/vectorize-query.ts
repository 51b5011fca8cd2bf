import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Arm, RecallKind } from "../../../src/domain/schema/recall.ts";
import { namespaceOf } from "../../../src/platform/vectors/namespace.ts";
import { modelTag, parseVectorId } from "../../../src/platform/vectors/vector-id.ts";
import type { VectorIndex } from "../../../src/platform/vectors/vector-index.ts";
import type { EmbeddedQuery } from "../search-index/vector-store.ts";

/** The nearest documents of the user that Vectorize names; any of them may be gone or changed since. */
export type VectorizeAnswer = Pick<Arm, "status" | "capped" | "ms"> & { numbers: readonly number[] };

/** The conditions that Vectorize can filter by. The object checks every other one itself. */
type VectorizeQuery = {
  owner: UserHash;
  kinds: readonly RecallKind[];
  scope?: string;
  withinMs: number;
  now: () => number;
};

export const NOT_QUERIED: VectorizeAnswer = { status: "off", capped: false, ms: 0, numbers: [] };

/** The most that Vectorize answers with. It knows no tags and no times, so some of them may not match. */
const NEAREST = 100;

/** Asks Vectorize for the nearest documents. A failure is a status of the answer, not an error. */
export async function queryVectorize(
  index: VectorIndex,
  { model, vector }: EmbeddedQuery,
  { owner, kinds, scope, withinMs, now }: VectorizeQuery,
): Promise<VectorizeAnswer> {
  const began = now();
  try {
    const [tag, hits] = await Promise.all([
      modelTag(model),
      index.query(vector, {
        namespace: namespaceOf(owner),
        filter: { model, user: owner, kinds, ...(scope !== undefined && { scope }) },
        topK: NEAREST,
        withinMs,
      }),
    ]);
    const numbers = hits.flatMap(({ id }) => {
      const named = parseVectorId(id);
      return named !== null && named.user === owner && named.model === tag ? [named.n] : [];
    });
    return { status: "ok", capped: hits.length >= NEAREST, ms: now() - began, numbers };
  } catch (error) {
    console.error({ message: "the vector index failed a query", model, error: String(error) });
    const status = error instanceof DeadlineExceeded ? "late" : "failed";
    return { ...NOT_QUERIED, status, ms: now() - began };
  }
}
