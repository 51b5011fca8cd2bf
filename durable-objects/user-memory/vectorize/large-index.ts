import { DeadlineExceeded } from "../../../src/platform/deadline.ts";
import type { UserHash } from "../../../src/domain/ids.ts";
import type { Arm, RecallKind } from "../../../src/domain/schema/recall.ts";
import { namespaceOf } from "../../../src/platform/vectors/namespace.ts";
import { modelTag, parseVectorId } from "../../../src/platform/vectors/vector-id.ts";
import type { VectorIndex } from "../../../src/platform/vectors/vector-index.ts";
import type { Space } from "../search-index/vector-store.ts";

/** What the large index says is near, as documents of the user: any of them may be gone, or have changed since. */
export type Near = Pick<Arm, "status" | "capped" | "ms"> & { numbers: readonly number[] };

/** What a search of it is narrowed by; what else the query means is for the object to see to. */
export type NearQuery = {
  owner: UserHash;
  kinds: readonly RecallKind[];
  scope?: string;
  withinMs: number;
  now: () => number;
};

export const NOT_ASKED: Near = { status: "off", capped: false, ms: 0, numbers: [] };

/** As many as an index answers with: it knows neither tags nor times, so some of them are not meant. */
const NEAREST = 100;

/** Asks the large index for what is near. Its failing is an answer, not an error. */
export async function nearIn(
  index: VectorIndex,
  { model, vector }: Space,
  { owner, kinds, scope, withinMs, now }: NearQuery,
): Promise<Near> {
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
    return { ...NOT_ASKED, status, ms: now() - began };
  }
}
