export type Turn = { role: "user" | "assistant"; content: string };

/** What is known of the user that may matter now, what was said, the last turn being the one to answer. */
export type Prompt = { known: readonly string[]; turns: readonly Turn[] };

export type ChatModel = {
  /** The answer, in pieces as they come. */
  answer(prompt: Prompt): Promise<ReadableStream<string>>;
  /** What a message says about who wrote it that will still hold tomorrow. */
  factsIn(text: string): Promise<string[]>;
};
