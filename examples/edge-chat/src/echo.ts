import type { ChatModel, Prompt } from "./model.ts";

/** Stands in for a model where there is none: it says what it was told, and what it knows. */
export const echo: ChatModel = {
  answer: async (prompt) => inWords(replyTo(prompt)),
  factsIn: async (text) => sentencesOf(text).filter((sentence) => /^(I|I'm|I’m|I've|My|We)\b/.test(sentence)),
};

const PAUSE_MS = 15;

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
