import type { Proposal, Proposals } from "../../../src/domain/ingest/proposal.ts";
import type { IngestResult } from "../../../src/domain/schema/ingest.ts";
import { isUnanswered, lookAgain } from "./second-look.ts";
import type { Batch, Extractor, Step } from "./step.ts";

/** Facts without an answer of the model, by the ids under which they wait in quarantine. Only there is their text. */
type Unlooked = { extractor: Extractor; ids: readonly string[] };
/**
 * The work that an ingest keeps besides its state: batches that are not stored yet, each of one step, and facts for a retry. A batch of the model
 * is the first one: the model is asked for more once nothing is left.
 */
export type Backlog = { batches: readonly Batch[]; unlooked: readonly Unlooked[] };

/** Facts of failed looks that a retry asks about. More of them wait in quarantine only. */
const RETRIED = 200;
/** Citations of the caller's memories in one batch: each is checked against its messages. More than one memory has. */
const CITED = 100;

/** The memories of the caller's own model, by batches. */
export function backlogOf({ facts, episodes, procedures }: Proposals): Backlog {
  let [batch, room] = [-1, 0];
  const batchOf = ({ sources }: { sources: readonly number[] }): number => {
    if (sources.length > room) [batch, room] = [batch + 1, CITED];
    room -= sources.length;
    return batch;
  };
  const groups = [
    Object.groupBy(facts, batchOf),
    Object.groupBy(episodes, batchOf),
    Object.groupBy(procedures, batchOf),
  ] as const;
  const batches = Array.from({ length: batch + 1 }, (_, i): Batch => {
    const proposals = {
      facts: groups[0][i] ?? [],
      episodes: groups[1][i] ?? [],
      procedures: groups[2][i] ?? [],
    };
    return { proposals, extractor: { by: "caller", name: "caller" } };
  });
  return { batches, unlooked: [] };
}

/** Former releases stored the caller's memories by their kinds, and those of a look under way inside it. */
type FormerBacklog = Partial<Proposals> & {
  looks?: readonly { extractor: unknown; proposals: Proposals }[];
};

/**
 * The backlog as it is stored. Of a former one only the caller's memories are left: the marks do not tell of the model's, which are
 * extracted anew, and facts without an answer wait in quarantine.
 */
export function backlogIn(json: string): Backlog {
  const stored = JSON.parse(json) as Backlog | FormerBacklog;
  if ("batches" in stored) return stored;
  const looks = (stored.looks ?? []).filter(({ extractor }) => extractor === "caller");
  const parts = [...looks.map(({ proposals }) => proposals), stored];
  return backlogOf({
    facts: parts.flatMap(({ facts = [] }) => facts),
    episodes: parts.flatMap(({ episodes = [] }) => episodes),
    procedures: parts.flatMap(({ procedures = [] }) => procedures),
  });
}

/** The backlog once a step is stored. `results`: those of its proposals. */
export function backlogAfter(
  { batches, unlooked }: Backlog,
  { extractor, look }: Step,
  results: readonly IngestResult[],
): Backlog {
  const ids = (look?.facts ?? []).flatMap((fact, place) => {
    if (!isUnanswered(fact)) return [];
    const { outcome, memoryId } = results[place] ?? {};
    return look?.again?.[place] ?? (outcome === "quarantined" && memoryId !== undefined ? memoryId : []);
  });
  const seen = new Set<string>();
  const retried = [...unlooked, { extractor, ids }]
    // The same fact that is found twice waits as one memory.
    .map((one) => ({ ...one, ids: one.ids.filter((id) => seen.size < seen.add(id).size) }))
    .filter((one) => one.ids.length > 0);
  let facts = 0;
  return {
    batches: batches.slice(1),
    unlooked: retried.filter((one) => (facts += one.ids.length) <= RETRIED),
  };
}

/** The backlog of a retry: the model is shown again what it has not looked at. */
export const backlogAgain = ({ batches, unlooked }: Backlog): Backlog => ({
  batches: [...unlooked.map(({ extractor, ids }) => lookAgain(extractor, ids)), ...batches],
  unlooked: [],
});

/**
 * The backlog without the text that comes of messages that are gone. A proposal that cites one is empty, and fails in its turn. The
 * model's own proposals go together: it has read the message, and reads the others again.
 */
export const withoutMessages = (
  { batches, unlooked }: Backlog,
  isThere: (seq: number) => boolean,
): Backlog => ({
  batches: batches
    .filter(({ seqs }) => seqs === undefined || seqs.every(isThere))
    .map((batch) => ({ ...batch, proposals: withoutText(batch.proposals, isThere) })),
  unlooked,
});

function withoutText(
  { facts, episodes, procedures }: Proposals,
  isThere: (seq: number) => boolean,
): Proposals {
  const left = <P extends Proposal>(list: readonly P[]): (P | typeof EMPTY)[] =>
    list.map((one) => (one.sources.every(isThere) ? one : { ...EMPTY, sources: one.sources }));
  return { facts: left(facts), episodes: left(episodes), procedures: left(procedures) };
}

/** A proposal of any kind without its text. */
const EMPTY = {
  subject: "",
  predicate: "",
  object: "",
  title: "",
  text: "",
  sources: [] as readonly number[],
};
