import { anyOf, fieldsOf } from "../language/fields.ts";

/** A memory; or a message between people, or between a person and an assistant. */
export const candidateKinds = ["memory", "people", "assistant"] as const;
export type CandidateKind = (typeof candidateKinds)[number];

/** A document that may be an answer, with what is known of it. */
export type PoolMember = {
  n: number;
  kind: CandidateKind;
  isMessage: boolean;
  text: string;
  /** Null for a memory. */
  role: string | null;
  /** The speaker of a message, if named. */
  speaker: string | null;
  createdAt: number;
  /** The id of the fact whose version this is; its versions follow each other in time. */
  fact?: string | undefined;
  /** Its distinct pieces. */
  pieces: Uint16Array;
  /** bm25 as FTS5 has it, turned so that more is better; 0 if its words were not asked for or not found. */
  words: number;
  /** Its cosine with the question; undefined if it has no vector, or the question has none. */
  cosine: number | undefined;
  /** The share of the question, 0 to 1, that names the key of this fact, or its subject and predicate. */
  key: number;
  /** 0 to 1 for the time that the question names; −1 if another version of this fact was true then. */
  date: number;
  /** 0 to 1, as the caller said; 0 for what has none. */
  importance: number;
  /** The instructions and preferences of its user that a message holds. */
  standing?: readonly string[] | undefined;
  /** The message before it in its thread, as an index of the pool; undefined if there is none or it is no candidate. */
  before: number | undefined;
  /** The messages within two steps in its thread, with their distance, without itself. */
  near: readonly { at: number; distance: number }[];
  /** Messages of one sitting have the same number here: what was said in one go. A memory is a sitting of its own. */
  sitting: number;
};

/** Messages on each side that contribute to a message. */
export const REACH = 2;
/** An assistant's messages are at least so many times as long as those of people. */
const ASSISTANT_LENGTH = 3;
/** A pause that ends a sitting. */
const PAUSE_MS = 3 * 3_600_000;

/** A candidate without its place among the others. */
export type Candidate = Omit<PoolMember, "kind" | "before" | "near" | "sitting">;

/** The places of messages in their threads. */
type Places = {
  sameThread: (a: number, b: number) => boolean;
  /** The message `step` places after `n` in its thread, or null. A fork's own messages follow the shared ones. */
  beside: (n: number, step: number) => number | null;
};

/** Puts candidates beside their neighbours: messages that follow each other in a thread. */
export function poolOf(candidates: readonly Candidate[], { sameThread, beside }: Places): PoolMember[] {
  const sorted = candidates.toSorted((a, b) => a.n - b.n);
  const index = new Map(sorted.map(({ n }, i) => [n, i]));
  const at = (n: number, step: number): number | undefined => {
    const other = beside(n, step);
    return other === null ? undefined : index.get(other);
  };
  const kinds = kindsOf(sorted, sameThread);
  const pool: PoolMember[] = [];
  for (const [i, one] of sorted.entries()) {
    const near = STEPS.flatMap((step) => {
      const other = at(one.n, step);
      return other === undefined ? [] : [{ at: other, distance: Math.abs(step) }];
    });
    const before = at(one.n, -1);
    const previous = pool[i - 1];
    const last = previous !== undefined && sameThread(previous.n, one.n) ? previous : pool[before ?? i];
    const goesOn = last !== undefined && one.createdAt - last.createdAt < PAUSE_MS;
    pool.push({ ...one, kind: kinds[i] ?? "memory", near, before, sitting: goesOn ? last.sitting : i });
  }
  return pool;
}

/** The kind of each candidate. The candidates of a thread follow each other, and tell who talks in it. */
function kindsOf(sorted: readonly Candidate[], sameThread: Places["sameThread"]): CandidateKind[] {
  const threads: Candidate[][] = [];
  for (const one of sorted) {
    const last = threads.at(-1);
    if (last?.[0] !== undefined && sameThread(last[0].n, one.n)) last.push(one);
    else threads.push([one]);
  }
  return threads.flatMap((messages) => {
    const kind = messages[0]?.isMessage === true ? threadKind(messages) : "memory";
    return messages.map(() => kind);
  });
}

/** People have names on both sides. An assistant may have one too, but its messages are several times as long. */
function threadKind(messages: readonly Candidate[]): CandidateKind {
  if (messages.some(({ speaker }) => speaker === null || isRole(speaker))) return "assistant";
  const lengths = (ofAssistant: boolean) =>
    messages.filter(({ role }) => (role === "assistant") === ofAssistant).map(({ text }) => text.length);
  const [assistant, others] = [mean(lengths(true)), mean(lengths(false))];
  return assistant > ASSISTANT_LENGTH * others ? "assistant" : "people";
}

/** Some apps repeat the role as the name. */
const isRole = (name: string): boolean => ROLE.test(name);
const ROLE = new RegExp(`^${anyOf(fieldsOf("writing").map(({ roleNames }) => roleNames))}$`, "i");

const mean = (values: readonly number[]): number =>
  values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;

const STEPS = Array.from({ length: 2 * REACH + 1 }, (_, i) => i - REACH).filter((step) => step !== 0);
