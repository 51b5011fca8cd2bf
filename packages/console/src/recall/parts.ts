import type { RecallBody } from "edgecairn";

/** The parts of a score, by the names of `weights` (docs/reference/recall.md#ranking), and what each is. */
export const PARTS = {
  lexical: "its words are those of the query",
  soft: "its words are like those of the query",
  vector: "its meaning is near the query",
  speaker: "who said it, and whether it asks or answers",
  length: "how much it says",
  time: "it is of the time that the query names, or tells a time if the query asks when",
  key: "the query names its subject or key",
  importance: "its importance",
  recency: "how new it is",
  instructions: "an instruction for such a question",
  statements: "what it states: an echo of the query sinks, a later statement rises",
} as const satisfies Record<keyof NonNullable<RecallBody["weights"]>, string>;

export type Part = keyof typeof PARTS;
export const partNames = Object.keys(PARTS) as Part[];

/** What each arm searches by. */
export const ARMS: Readonly<Record<string, string>> = {
  lexical: "words",
  vector: "meaning, of the vectors in memory",
  vectorize: "meaning, of all vectors (Vectorize)",
  key: "facts that the query names",
  date: "the time that the query names",
  owners: "shared owners",
  rerank: "the reranker",
};
