import type { Verdict } from "../../../src/domain/ingest/checks/check-fact.ts";
import type { Proposals, SourceMessage } from "../../../src/domain/ingest/proposal.ts";
import type { Range } from "../../../src/domain/ingest/ranges.ts";
import type { Ingest, IngestResult } from "../../../src/domain/schema/ingest.ts";

/** Finds proposals. `name`: of the model, or of the rules with their version. `prompt`: its name and version. */
export type Extractor =
  | { by: "caller" | "rules"; name: string }
  | { by: "model"; name: string; prompt: string };

/**
 * A fact whose sentence the model sees. `holds`: its answer. `seen`: the hash of what it saw, as no text of a message is stored again.
 * `why`: there is no answer, and no further call of this ingest asks for one. `changes`: how often its sentence has changed since.
 */
export type LookedAt = { holds?: boolean; seen?: string; why?: string; changes?: number };
/**
 * A second look of the model at the facts of a batch. `facts`: by their place among the proposals. `most`: the facts of one call.
 * `refused`: calls in a row about one fact that the model refused. `again`: the memories that wait in quarantine since the look failed
 * before, by the place of their facts. These are read from the memories each time, and not kept in the batch.
 */
export type Look = {
  facts: readonly LookedAt[];
  most: number;
  refused?: number;
  again?: readonly string[];
};

/**
 * Proposals of one step. `range`: what of the thread is extracted once they are stored. `seqs`: the messages that were read for it.
 * `failed`: why the extraction of that range failed for good, so there are no proposals; its `halves` may do better. `unusable`: the
 * results of entries of the answer that are no proposals. `look`: of the model at the facts.
 */
export type Batch = {
  proposals: Proposals;
  extractor: Extractor;
  range?: Range;
  seqs?: readonly number[];
  failed?: string;
  halves?: readonly Range[];
  unusable?: readonly IngestResult[];
  look?: Look;
};
export type LookedBatch = Batch & { look: Look };

/** The judgement of the checks and of the look on a fact. `against`: why it waits though it passes the checks. */
export type Judged = { verdict: Verdict; against: readonly string[] };

/**
 * A batch to store. `window`: what its proposals may cite. `usage`: what it has cost. `judged`: what the look and the checks say of each
 * fact. `waiting`: the memory in quarantine that each takes the place of.
 */
export type Step = Batch & {
  window: readonly SourceMessage[];
  usage?: Ingest["usage"];
  judged?: readonly Judged[];
  waiting?: readonly string[];
};
/** A look that goes on in the next step, and what this one cost. */
export type Looking = { batch: LookedBatch; usage?: Ingest["usage"] };
/** No step is possible before a time. */
export type StepWait = { why: string; until: number };
/** A step that failed. `isLasting`: another attempt fails too. `usage`: what it cost. */
export type FailedStep = { why: string; isLasting: boolean; usage?: Ingest["usage"] };

/** A step without what is read anew. */
export function batchOf({
  window: _window,
  usage: _usage,
  judged: _judged,
  waiting: _waiting,
  ...batch
}: Step): Batch {
  return batch;
}
