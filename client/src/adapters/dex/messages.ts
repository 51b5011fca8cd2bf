import type { DexMessage } from "./types.ts";

/** Characters of one message that are summarised: of a tool's output, the beginning tells what it was. */
const MESSAGE = 4_000;

/** What a message says. */
export function textOf({ content }: DexMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part: unknown) => wordsOf(part) ?? []).join("\n");
}

/** As parts of a text are called in the AI SDK and by Anthropic; of what came in and went out, by OpenAI. */
const TEXTS: readonly unknown[] = ["text", "input_text", "output_text"];

function wordsOf(part: unknown): string | null {
  if (typeof part !== "object" || part === null || !("type" in part) || !TEXTS.includes(part.type))
    return null;
  return "text" in part && typeof part.text === "string" ? part.text : null;
}

/** Messages as a model reads them to summarise: what is no text (calls of tools, and what came of them) as JSON. */
export function transcriptOf(messages: readonly DexMessage[]): string {
  return messages
    .map((message) => {
      const said = textOf(message);
      const whole = said === "" ? jsonOf(message) : said;
      return `${message.role}: ${whole.length > MESSAGE ? `${whole.slice(0, MESSAGE)}… (cut)` : whole}`;
    })
    .join("\n");
}

/** What a long transcript begins and ends with: how a turn ended is told last. */
export const shortened = (transcript: string, most: number): string =>
  transcript.length <= most
    ? transcript
    : `${transcript.slice(0, most / 2)}\n… (cut)\n${transcript.slice(-most / 2)}`;

/** Which messages of a conversation are new: it is given whole after each turn, or only what is new of it. */
export class Seen {
  /** The conversation so far. */
  readonly #said: string[] = [];
  readonly #objects = new WeakSet<DexMessage>();
  readonly #ids = new Set<string>();

  /** Those that were not there before. From now on they were. */
  fresh<M extends DexMessage>(messages: readonly M[]): M[] {
    const unknown = messages.filter((message) => !this.#knows(message));
    // A host may make the objects anew, without ids: what the conversation so far ends with, this one begins with then.
    const begun = unknown.length < messages.length ? 0 : overlap(this.#said, unknown.map(jsonOf));
    const fresh = unknown.slice(begun);
    this.#said.push(...fresh.map(jsonOf));
    for (const message of messages) {
      this.#objects.add(message);
      const id = idOf(message);
      if (id !== null) this.#ids.add(id);
    }
    return fresh;
  }

  #knows(message: DexMessage): boolean {
    const id = idOf(message);
    return this.#objects.has(message) || (id !== null && this.#ids.has(id));
  }
}

/** The host's own id of a message. */
const idOf = (message: DexMessage): string | null =>
  "id" in message && typeof message.id === "string" && message.id !== "" ? message.id : null;

/** A message whole; it may hold anything, and of what is no JSON there is its text. */
function jsonOf(message: DexMessage): string {
  try {
    return JSON.stringify(message);
  } catch {
    return `${message.role}: ${textOf(message)}`;
  }
}

/** How many of `next` are the last ones of `before`: the most that fit. */
function overlap(before: readonly string[], next: readonly string[]): number {
  for (let length = Math.min(before.length, next.length); length > 0; length--)
    if (next.slice(0, length).every((one, i) => one === before[before.length - length + i])) return length;
  return 0;
}
