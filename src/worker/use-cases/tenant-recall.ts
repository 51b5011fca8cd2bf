import { fail, ok, type Result } from "../../domain/errors.ts";
import { DeadlineExceeded } from "../../platform/deadline.ts";
import type { UserHash } from "../../domain/ids.ts";
import {
  type Arm,
  type Hit,
  ofMessages,
  recallKind,
  type TenantRecallAnswer,
  type TenantRecallBody,
} from "../../domain/schema/recall.ts";
import type { Services } from "../services.ts";
import { modelTag, parseVectorId } from "../../platform/vectors/vector-id.ts";
import type { VectorHit } from "../../platform/vectors/vector-index.ts";
import { vectorizeLimits } from "../../platform/vectors/vectorize-limits.ts";
import { embedOne } from "../../platform/embeddings/embed.ts";
import { failed, withFilter } from "./recall.ts";
import { searchedQuery } from "../../domain/memory/searched-query.ts";

type Needs = Pick<Services, "embedder" | "userMemory" | "vectors" | "now">;

const K = 10;
/** Longer than a user's recall, as no chat waits for it. */
const DEADLINE_MS = 2_000;
/** Concurrent calls to objects. */
const AT_ONCE = 20;

/**
 * Finds memories near a query among all users. Vectorize returns candidates; each owner's object drops those that are
 * deleted or do not match, and scores the others. Finds nothing that Vectorize does not hold yet.
 */
export async function tenantRecall(
  needs: Needs,
  { query: given, k = K, minScore = 0, deadlineMs = DEADLINE_MS, ...body }: TenantRecallBody,
): Promise<Result<TenantRecallAnswer>> {
  const { embedder, vectors, now } = needs;
  if (vectors === null) return fail("vectorize_required");
  const began = now();
  const { query, cut } = searchedQuery(given);
  const queryVector = await embedOne(embedder, query, "query");
  const { model, vector } = queryVector;
  const answer = (
    hits: Hit[],
    arm: Pick<Arm, "status" | "candidates" | "capped">,
  ): Result<TenantRecallAnswer> =>
    ok({
      hits,
      arms: [{ name: "vectorize", ms: now() - began, ...arm }],
      degraded: failed(arm),
      ...(cut && { cut }),
    });
  const without = (status: Arm["status"]) => answer([], { status, candidates: 0, capped: false });
  if (vector === "failed") return without(queryVector.late === true ? "late" : "failed");
  if (vector === null) return without("off");
  const { filter, kinds: requested, ...moment } = withFilter(body);
  // Under a filter that no message matches, messages would only displace other candidates.
  const kinds = Object.keys(filter ?? {}).some((field) => !ofMessages.has(field))
    ? (requested ?? recallKind.options).filter((kind) => kind !== "message")
    : requested;
  const [scope, ...otherScopes] = filter?.scope ?? [];
  let near: VectorHit[];
  try {
    near = await vectors.query(vector, {
      filter: {
        model,
        ...(kinds && { kinds: [...new Set(kinds)] }),
        ...(scope !== undefined && otherScopes.length === 0 && { scope }),
      },
      topK: vectorizeLimits.topK,
      withinMs: deadlineMs,
    });
  } catch (error) {
    console.error({ message: "the vector index failed a query", model, error: String(error) });
    return without(error instanceof DeadlineExceeded ? "late" : "failed");
  }
  const candidates = await byOwner(near, model);
  const asked = { queryVector, ...moment, ...(kinds && { kinds }), ...(filter && { filter }) };
  const found: Hit[] = [];
  let silent = 0;
  for (let i = 0; i < candidates.length; i += AT_ONCE) {
    const some = candidates.slice(i, i + AT_ONCE).map(([owner, numbers]) =>
      needs
        .userMemory(owner)
        .scoreDocuments({ ...asked, numbers })
        .catch((error: unknown) => {
          console.error({ message: "a user's object does not answer", error: String(error) });
          silent++;
          return [];
        }),
    );
    found.push(...(await Promise.all(some)).flat());
  }
  const hits = found
    .filter(({ score }) => score >= minScore)
    .toSorted((a, b) => b.score - a.score)
    .slice(0, k);
  return answer(hits, {
    status: silent > 0 ? "failed" : "ok",
    candidates: near.length,
    capped: near.length === vectorizeLimits.topK,
  });
}

/** The candidates of each owner. Skips ids that Cairn did not make. */
async function byOwner(near: readonly VectorHit[], model: string): Promise<[UserHash, number[]][]> {
  const tag = await modelTag(model);
  const numbers = new Map<UserHash, number[]>();
  for (const { id } of near) {
    const parsed = parseVectorId(id);
    if (parsed?.model === tag) numbers.set(parsed.user, [...(numbers.get(parsed.user) ?? []), parsed.n]);
  }
  return [...numbers];
}
