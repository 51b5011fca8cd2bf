import type { Recall, SearchRequest } from "../../../src/contract/user-memory.ts";
import { asksForPast } from "../../../src/domain/ranking/asks.ts";
import type { Signals } from "../../../src/domain/ranking/confidence.ts";
import type { Question } from "../../../src/domain/ranking/features.ts";
import type { Lexicon } from "../../../src/domain/ranking/lexicon.ts";
import type { NamedTime } from "../../../src/domain/ranking/named-time.ts";
import type { Passage } from "../../../src/domain/ranking/passages.ts";
import type { Arm, Hit } from "../../../src/domain/schema/recall.ts";
import type { TextEmbedding } from "../../../src/platform/embeddings/embedder.ts";
import type { Document } from "../search-index/documents.ts";
import type { Neighbour } from "../threads/lineage.ts";
import type { CandidateFilter, FilterRequest } from "./candidate-filter.ts";

export type SearchQuery = SearchRequest &
  Pick<Recall, "answerable"> &
  FilterRequest & {
    /** The query's vector of each model that documents have vectors of; the current model first. */
    queryVectors: readonly TextEmbedding[];
    /** The times that the query names. */
    time: NamedTime | null;
  };
/** A document in its place of the ranking. */
export type RankedHit = {
  n: number;
  score: number;
  why: Hit["why"];
  document: Document;
  /** The time of a later statement that seems to replace it. */
  replacedAt?: number;
  /** The passage of a long text that matches the query best. */
  passage?: Passage;
};
/** An arm without its time, which only the caller measures. */
export type SearchArm = Omit<Arm, "ms">;
/** `isAnswerable`: the confidence reaches the threshold that the query asks for. */
export type SearchAnswer = {
  ranked: RankedHit[];
  arms: SearchArm[];
  confidence: number;
  isAnswerable: boolean;
  signals?: Signals;
  threshold?: number;
};

/** The parts of the object that a search uses. */
export type SearchContext = {
  filter: CandidateFilter;
  /** Null: words match only if they are equal. */
  lexicon: Lexicon | null;
  /** Number of documents in the index. */
  size: number;
  /** The messages among these positions that are deleted in the thread that shows them. */
  unshown: (positions: readonly number[]) => ReadonlySet<number>;
  /** Finds the neighbour of a message, `step` places after it in its thread. */
  besides: (positions: readonly number[]) => Neighbour;
  /** Finds messages with standing instructions, then those with preferences alone, the newest first. */
  standing: (limit: number) => readonly number[];
  /** Matching documents whose vectors are not cached, to be compared with the query too. */
  uncached: () => readonly number[];
};
/** The question as the ranking compares it. */
export function questionOf({ query: text, referenceDate, moment, timeMode, time }: SearchQuery): Question {
  return {
    text,
    now: referenceDate ?? moment.now,
    isPast: timeMode !== "off" && time === null && asksForPast(text),
    ...(time !== null && time.spans.length > 0 && { until: Math.max(...time.spans.map(({ to }) => to)) }),
  };
}
