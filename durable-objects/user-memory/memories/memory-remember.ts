import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import { fail, ok, type Result } from "../../../src/domain/errors.ts";
import { contentOf, type Owner } from "../../../src/domain/memory/record.ts";
import { rememberIn } from "../../../src/domain/memory/rules.ts";
import { targetOf } from "../../../src/domain/memory/stored-match.ts";
import { currentOf } from "../../../src/domain/memory/versions.ts";
import { embeddedText } from "../../../src/domain/memory/search-text.ts";
import { isPerson } from "../../../src/domain/memory/trust.ts";
import type { RememberBody } from "../../../src/domain/schema/memory.ts";
import type { Prepared } from "../../../src/contract/user-memory.ts";
import type { AnsweredRow } from "./answer-reference.ts";
import { conditionFailure, withPathPrefix } from "./decided-writes.ts";
import type { MemoryDraft } from "./memory-draft.ts";
import type { SimilarMemories } from "./similar-memories.ts";

/** The time of the message that a fact cites, if its owner states it there; null otherwise. */
export type StatedAt = (body: RememberBody) => number | null;

export type RememberedRow = AnsweredRow & { candidate: Prepared };

/** Decides one memory. `path`: of its fields, if it is one of many. */
export function rememberOne(
  draft: MemoryDraft,
  owner: Owner,
  candidate: Prepared,
  { path, statedAt, similar }: { path: string | undefined; statedAt: StatedAt; similar: SimilarMemories },
): Result<RememberedRow> {
  const { condition } = candidate;
  const unmet =
    condition && conditionFailure(condition, targetOf(draft, candidate), path && `${path}.ifVersion`);
  if (unmet) return unmet;
  const by = placeTaken(draft, candidate);
  if (by === null) return fail("not_found");
  const ruled = rememberIn(draft, owner, { ...candidate, by, statedAt: () => statedAt(candidate.body) });
  if (!ruled.ok) return withPathPrefix(ruled, path ?? "body");
  const others =
    candidate.body.dedupe === "suggest"
      ? similar.similarTo(candidate, draft.time).filter(({ id }) => id !== ruled.value.row.id)
      : undefined;
  const { row, created, replaced = false, ended = [] } = ruled.value;
  return ok({
    row,
    ended,
    candidate,
    rest: { created, ...(replaced && { replaced }), ...(others && { similar: others }) },
  });
}

/**
 * The writer of a candidate, which takes the place of a memory that waits in quarantine, if it names one; null if that one does
 * not wait. A person may have corrected it: then it is theirs.
 */
function placeTaken(draft: MemoryDraft, { waited: id, status, by }: Prepared): Prepared["by"] | null {
  if (id === undefined) return by;
  const waited = currentOf(draft, id);
  if (waited?.status !== "quarantined" || isPerson(waited.trust)) return null;
  draft.forget(waited.id);
  return status === "quarantined" ? by : { ...by, waitedAs: waited.id };
}

export const vectorsOf = (remembered: readonly RememberedRow[]): Map<number, TextEmbedding> =>
  new Map(
    remembered
      // A stored memory may have kept its own text.
      .filter(({ row, candidate }) => embeddedText(contentOf(candidate)) === embeddedText(row))
      .map(({ row, candidate }) => [row.version, candidate.vector]),
  );
