export type Turn = { role: "user" | "assistant"; content: string };

/** What is known of the user that may matter now, what was said, the last turn being the one to answer. */
export type Prompt = { known: readonly string[]; turns: readonly Turn[] };

/**
 * What a message says that will still hold tomorrow. Of what can be so once only at a time, as where somebody lives, it names
 * subject, predicate and object: then the next one of this subject and predicate takes its place.
 */
export type Fact = { text: string; subject?: string; predicate?: string; object?: string };

export type ChatModel = {
  /** The answer, in pieces as they come. */
  answer(prompt: Prompt): Promise<ReadableStream<string>>;
  /** What a message says about who wrote it. */
  factsIn(text: string): Promise<Fact[]>;
};
