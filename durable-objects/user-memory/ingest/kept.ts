import type { Proposals } from "../../../src/domain/ingest/proposal.ts";
import type { Extracted, IngestResult } from "../../../src/domain/schema/ingest.ts";
import type { Kept } from "./ingest-store.ts";
import type { Step } from "./next-step.ts";
import { type Look, type Looking, type Unlooked, unlookedIn } from "./second-look.ts";

/** Facts of failed looks that a retry asks about. More of them wait in quarantine only. */
const RETRIED = 200;
/** Citations of the memories that a step takes of the caller's: each is checked against its messages. At least those of one memory. */
const CITED = 100;

/**
 * The rest that an ingest keeps once a step is stored, without its memories and the look at them. Null if nothing is left. `stored`: the
 * results of its proposals.
 */
export function keptAfter(
  kept: Kept,
  { extractor, look }: Step,
  stored: readonly IngestResult[],
): Kept | null {
  const { looks = [], unlooked: failed = [], ...given } = kept;
  const rest = extractor === "caller" && look === undefined ? (firstOf(given).left ?? {}) : given;
  const seen = new Set<string>();
  const retried = [...failed, ...(look === undefined ? [] : [unlookedIn(look, stored)])]
    // The same fact that is found twice waits as one memory.
    .map(({ extractor: of, ids }) => ({
      extractor: of,
      ids: ids.filter((id) => seen.size < seen.add(id).size),
    }))
    .filter(({ ids }) => ids.length > 0);
  const next: Kept = {
    ...rest,
    // The first is that of the step, or has become useless.
    ...(looks.length > 1 && { looks: looks.slice(1) }),
    ...(retried.length > 0 && { unlooked: someOf(retried) }),
  };
  return Object.keys(next).length === 0 ? null : next;
}

/** The rest that an ingest keeps during a look. A memory that waits in quarantine is no matter of it: its text is not kept twice. */
export function keptDuring(
  { looks = [], unlooked, ...given }: Kept,
  { look, isFirst }: Looking,
  isThere: (seq: number) => boolean,
): Kept {
  const proposals = look.again === undefined ? withoutDeleted(look.proposals, isThere) : NONE;
  return {
    ...(isFirst === true && look.extractor === "caller" ? firstOf(given).left : given),
    looks: [{ ...look, proposals }, ...looks.slice(1)],
    ...(unlooked && { unlooked }),
  };
}

/**
 * The rest without the text that comes of messages that are gone. A proposal that cites one is empty, and fails in its turn. The model's
 * own proposals go together: it has read the message, and reads the others again.
 */
export function withoutMessages(kept: Kept, isThere: (seq: number) => boolean): Kept {
  const { looks, unlooked, ...given } = kept;
  return {
    ...withoutDeleted(given, isThere),
    ...(looks && {
      looks: looks
        .filter(({ seqs, range }) => range === undefined || seqs.every(isThere))
        .map((look): Look => ({ ...look, proposals: withoutDeleted(look.proposals, isThere) })),
    }),
    ...(unlooked && { unlooked }),
  };
}

function withoutDeleted<T extends Partial<Proposals>>(given: T, isThere: (seq: number) => boolean): T {
  const emptied = <P extends { sources: readonly number[] }>(
    list: readonly P[] | undefined,
    empty: Omit<P, "sources">,
  ) => list?.map((one) => (one.sources.every(isThere) ? one : { ...empty, sources: one.sources }));
  const { facts, episodes, procedures } = given;
  return {
    ...given,
    ...(facts && { facts: emptied(facts, { subject: "", predicate: "", object: "" }) }),
    ...(episodes && { episodes: emptied(episodes, { text: "" }) }),
    ...(procedures && { procedures: emptied(procedures, { title: "", text: "" }) }),
  };
}

/** Splits a caller's memories: those that fit one step, and the rest (null if none). */
export function firstOf({ facts = [], episodes = [], procedures = [] }: Extracted): {
  taken: Required<Extracted>;
  left: Extracted | null;
} {
  let cited = 0;
  const fits = ({ sources }: { sources: readonly number[] }) => (cited += sources.length) <= CITED;
  const taken = {
    facts: facts.filter(fits),
    episodes: episodes.filter(fits),
    procedures: procedures.filter(fits),
  };
  const left = {
    facts: facts.slice(taken.facts.length),
    episodes: episodes.slice(taken.episodes.length),
    procedures: procedures.slice(taken.procedures.length),
  };
  return { taken, left: hasMemories(left) ? left : null };
}

export const hasMemories = ({ facts = [], episodes = [], procedures = [] }: Extracted): boolean =>
  facts.length + episodes.length + procedures.length > 0;

function someOf(unlooked: readonly Unlooked[]): Unlooked[] {
  let facts = 0;
  return unlooked.filter(({ ids }) => (facts += ids.length) <= RETRIED);
}

const NONE: Proposals = { facts: [], episodes: [], procedures: [] };
