// Questions and their corpora: conversations whose turns are evidence, or topics of short memories.
import { readFileSync } from "node:fs";
import { z } from "zod";
import { contentOf, readConversations } from "./demo/conversation.ts";

/** The messages of one session, in order. */
export type Session = {
  id: string;
  /** When it was said, in milliseconds since the epoch; unknown where the data do not tell. */
  saidAt?: number;
  turns: { id: string; speaker: string; text: string }[];
};
export type Question = { query: string; relevant: ReadonlySet<string>; category: string };
/** One user's conversations or memories, and what is asked about them. */
export type Corpus = {
  name: string;
  sessions: Session[];
  memories: { id: string; text: string }[];
  questions: Question[];
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
const ADVERSARIAL = 5;

/** Reads a file of conversations, or of paraphrases: a user for each of either. */
export function readCorpora(path: string): Corpus[] {
  const read = paraphrases.safeParse(JSON.parse(readFileSync(path, "utf8")));
  if (!read.success) return readConversations(path).map(corpusOf);
  return read.data.topics.map(({ name, memories, questions }) => ({
    name,
    sessions: [],
    memories,
    questions: questions.map(({ query, answers }) => ({ query, relevant: new Set(answers), category: name })),
  }));
}

/** One user who was told everything: what is said of the others makes each question harder. */
export const inOneStore = (corpora: readonly Corpus[]): Corpus => ({
  name: "all in one store",
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
      relevant: new Set([...relevant].map((id) => `${name} ${id}`)),
    })),
  ),
});

function corpusOf({ id, sessions, facts, questions }: ReturnType<typeof readConversations>[number]): Corpus {
  return {
    name: id,
    sessions: sessions.map(({ date, turns }, i) => ({
      id: `session-${i + 1}`,
      ...saidAtOf(date),
      turns: turns.map((turn) => ({ id: turn.id, speaker: turn.speaker, text: contentOf(turn) })),
    })),
    memories: facts
      .filter(({ replaces }) => replaces === undefined)
      .map(({ id: fact, text }) => ({ id: fact, text })),
    questions: questions
      .filter(({ category, evidence }) => category !== ADVERSARIAL && evidence.length > 0)
      .map(({ question, evidence, category, type }) => ({
        query: question,
        relevant: new Set(evidence),
        category: type ?? CATEGORIES[category ?? 0] ?? "",
      })),
  };
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
  const known = questions.map(({ relevant, ...question }) => ({
    ...question,
    relevant: new Set([...relevant].map((id) => sessionOf.get(id) ?? id)),
  }));
  return { ...corpus, sessions, questions: known };
}
