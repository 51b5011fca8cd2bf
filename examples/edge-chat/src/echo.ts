import type { ChatModel, Fact, Prompt } from "./model.ts";

/** Stands in for a model where there is none: it says what it was told, and what it knows. */
export const echo: ChatModel = {
  answer: async (prompt) => inWords(replyTo(prompt)),
  factsIn: async (text) =>
    sentencesOf(text)
      .filter((sentence) => /^(I|I'm|I’m|I've|My|We)\b/.test(sentence))
      .map(factOf),
};

const PAUSE_MS = 15;

/** The few sentences of which it knows that only one can be so. Any other is kept beside what was said before. */
const SINGLE = [
  /^(?<subject>I) (?<predicate>live in) (?<object>.+)$/,
  /^(?<subject>My name) (?<predicate>is) (?<object>.+)$/,
  /^(?<subject>My favou?rite [^.,]{1,60}?) (?<predicate>is) (?<object>.+)$/,
  /^(?<subject>My [^.,]{1,60}?) (?<predicate>is called) (?<object>.+)$/,
];

function factOf(text: string): Fact {
  for (const pattern of SINGLE) {
    const parts = pattern.exec(text)?.groups;
    if (parts !== undefined) return { text, ...parts };
  }
  return { text };
}

function replyTo({ known, turns }: Prompt): string {
  const said = turns.at(-1)?.content ?? "";
  if (known.length === 0) return `You said: “${said}”. I know nothing about you yet.`;
  return `You said: “${said}”. What I remember of you:\n${known.map((fact) => `– ${fact}`).join("\n")}`;
}

const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!])\s+|\n+/)
    .map((sentence) => sentence.trim().replace(/[.!]+$/, ""))
    .filter((sentence) => sentence !== "" && !sentence.endsWith("?"));

/** A word at a time, as a model does. */
function inWords(text: string): ReadableStream<string> {
  const words = text.split(/(?<=\s)/);
  return new ReadableStream({
    async pull(controller) {
      const word = words.shift();
      if (word === undefined) return controller.close();
      controller.enqueue(word);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    },
  });
}
