// Questions and their corpora: conversations whose turns are evidence, or topics of short memories.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { z } from "zod";
import {
  contentOf,
  type Conversation,
  isAnswerable,
  readConversations,
  type Turn,
} from "./demo/conversation.ts";

/** The messages of one session, in order. */
export type Session = {
  id: string;
  /** When it was said, in milliseconds since the epoch; unknown where the data do not tell. */
  saidAt?: number;
  turns: Pick<Turn, "id" | "speaker" | "role" | "text">[];
};
export type Question = {
  query: string;
  /** The parts of the answer: for each, the turns and memories that hold it, any of which will do. */
  relevant: readonly ReadonlySet<string>[];
  category: string;
};
/** One user's conversations or memories, and what is asked about them. */
export type Corpus = {
  name: string;
  /** The name of its file. */
  set: string;
  sessions: Session[];
  memories: { id: string; text: string }[];
  questions: Question[];
  /** Questions about something that was never said; no score counts them. */
  unanswerable: Omit<Question, "relevant">[];
};

const paraphrases = z.object({
  topics: z.array(
    z.object({
      name: z.string(),
      memories: z.array(z.object({ id: z.string(), text: z.string() })),
      questions: z.array(z.object({ query: z.string(), answers: z.array(z.string()).min(1) })),
    }),
  ),
});

const CATEGORIES = ["", "multi-hop", "temporal", "open-domain", "single-hop"];

/** Reads a file of conversations, or of paraphrases: a user for each of either. */
export function readCorpora(path: string): Corpus[] {
  const set = basename(path, ".json");
  const read = paraphrases.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!read.success) return readConversations(path).map((one) => corpusOf(one, set));
  return read.data.topics.map(({ name, memories, questions }) => ({
    name,
    set,
    sessions: [],
    memories,
    questions: questions.map(({ query, answers }) => ({
      query,
      relevant: answers.map((id) => new Set([id])),
      category: name,
    })),
    unanswerable: [],
  }));
}

/** One user who was told everything: what is said of the others makes each question harder. */
export const inOneStore = (corpora: readonly Corpus[]): Corpus => ({
  name: "all in one store",
  set: corpora[0]?.set ?? "",
  sessions: corpora.flatMap(({ name, sessions }) =>
    sessions.map(({ id, turns, ...session }) => ({
      ...session,
      id: `${name} ${id}`,
      turns: turns.map((turn) => ({ ...turn, id: `${name} ${turn.id}` })),
    })),
  ),
  memories: corpora.flatMap(({ name, memories }) =>
    memories.map(({ id, text }) => ({ id: `${name} ${id}`, text })),
  ),
  questions: corpora.flatMap(({ name, questions }) =>
    questions.map(({ relevant, ...question }) => ({
      ...question,
      relevant: relevant.map((ids) => new Set([...ids].map((id) => `${name} ${id}`))),
    })),
  ),
  unanswerable: corpora.flatMap(({ unanswerable }) => unanswerable),
});

function corpusOf({ id, sessions, facts, questions }: Conversation, set: string): Corpus {
  const outdated = new Set(facts.map(({ replaces }) => replaces));
  const sources = new Map(facts.map((fact) => [fact.id, fact.evidence]));
  const categoryOf = ({ type, category }: (typeof questions)[number]): string =>
    type ?? CATEGORIES[category ?? 0] ?? "";
  return {
    name: id,
    set,
    sessions: sessions.map(({ date, turns }, i) => ({
      id: `session-${i + 1}`,
      ...saidAtOf(date),
      turns: turns.map((turn) => ({ ...turn, text: contentOf(turn) })),
    })),
    memories: facts
      .filter((fact) => !outdated.has(fact.id))
      .map((fact) => ({ id: fact.id, text: fact.text })),
    questions: questions
      .filter((one) => isAnswerable(one) && one.evidence.length > 0)
      .map((one) => ({
        query: one.question,
        relevant: partsOf([...new Set(one.evidence)], sources),
        category: categoryOf(one),
      })),
    unanswerable: questions
      .filter((one) => !isAnswerable(one))
      .map((one) => ({ query: one.question, category: categoryOf(one) || "adversarial" })),
  };
}

/** The parts of an answer. A fact of the evidence holds the same parts as those of its turns that are evidence. */
function partsOf(
  evidence: readonly string[],
  sources: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string>[] {
  const isRepeated = (id: string) => sources.get(id)?.some((turn) => evidence.includes(turn)) ?? false;
  return evidence
    .filter((id) => !isRepeated(id))
    .map((id) => new Set([id, ...evidence.filter((other) => sources.get(other)?.includes(id))]));
}

/** A date as `2023-05-08`, or as `1:56 pm on 8 May, 2023`. */
function saidAtOf(date: string | undefined): { saidAt?: number } {
  if (date === undefined) return {};
  const [clock, day] = date.includes(" on ") ? date.split(" on ") : ["", date];
  const saidAt = Date.parse(`${(day ?? "").replace(",", "")} ${clock ?? ""} UTC`);
  return Number.isNaN(saidAt) ? {} : { saidAt };
}

/** The questions with the sessions that hold their evidence in the place of the turns. */
export function bySession({ sessions, questions, ...corpus }: Corpus): Corpus {
  const sessionOf = new Map(sessions.flatMap(({ id, turns }) => turns.map((turn) => [turn.id, id] as const)));
  const known = questions.map(({ relevant, ...question }) => {
    const parts = new Map<string, Set<string>>();
    for (const ids of relevant) {
      const [first = "", ...others] = [...ids].map((id) => sessionOf.get(id) ?? id);
      parts.set(first, new Set([first, ...(parts.get(first) ?? []), ...others]));
    }
    return { ...question, relevant: [...parts.values()] };
  });
  return { ...corpus, sessions, questions: known };
}
