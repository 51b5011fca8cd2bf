/** A document that may be an answer, with what is known of it. */
export type PooledCandidate = {
  n: number;
  isMessage: boolean;
  text: string;
  /** The speaker of a message, if named. */
  speaker: string | null;
  createdAt: number;
  /** Its distinct pieces. */
  pieces: Uint16Array;
  /** bm25 as FTS5 has it, turned so that more is better; 0 if its words were not asked for or not found. */
  words: number;
  /** Its cosine with the question; undefined if it has no vector, or the question has none. */
  cosine: number | undefined;
  /** True if the question names the key of this fact. */
  key: boolean;
  /** 0 to 1 for the time that the question names; −1 if another version of this fact was true then. */
  date: number;
  /** 0 to 1, as the caller said; 0 for what has none. */
  importance: number;
  /** The message before it in its thread, as an index of the pool; undefined if there is none or it is no candidate. */
  before: number | undefined;
  /** The messages within two steps in its thread, with their distance, without itself. */
  near: readonly { at: number; distance: number }[];
  /** Messages of one sitting have the same number here: what was said in one go. A memory is a sitting of its own. */
  sitting: number;
};

/** Messages on each side that contribute to a message. */
export const REACH = 2;
/** A pause that ends a sitting. */
const PAUSE_MS = 3 * 3_600_000;

/** A candidate without its place among the others. */
export type Candidate = Omit<PooledCandidate, "before" | "near" | "sitting">;

/** The places of messages in their threads. */
type Places = {
  sameThread: (a: number, b: number) => boolean;
  /** The message `step` places after `n` in its thread, or null. A fork's own messages follow the shared ones. */
  beside: (n: number, step: number) => number | null;
};

/** Puts candidates beside their neighbours: messages that follow each other in a thread. */
export function pooled(candidates: readonly Candidate[], { sameThread, beside }: Places): PooledCandidate[] {
  const sorted = candidates.toSorted((a, b) => a.n - b.n);
  const index = new Map(sorted.map(({ n }, i) => [n, i]));
  const at = (n: number, step: number): number | undefined => {
    const other = beside(n, step);
    return other === null ? undefined : index.get(other);
  };
  const pool: PooledCandidate[] = [];
  for (const [i, one] of sorted.entries()) {
    const near = STEPS.flatMap((step) => {
      const other = at(one.n, step);
      return other === undefined ? [] : [{ at: other, distance: Math.abs(step) }];
    });
    const before = at(one.n, -1);
    const previous = pool[i - 1];
    const last = previous !== undefined && sameThread(previous.n, one.n) ? previous : pool[before ?? i];
    const goesOn = last !== undefined && one.createdAt - last.createdAt < PAUSE_MS;
    pool.push({ ...one, near, before, sitting: goesOn ? last.sitting : i });
  }
  return pool;
}

const STEPS = Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH).filter((step) => step !== 0);
