import { overlap } from "../threads/overlap.ts";
import type { DexMessage } from "./types.ts";

/** Characters of one message to summarise; the beginning identifies a tool's output. */
const MESSAGE = 4_000;

export function textOf({ content }: DexMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.flatMap((part: unknown) => wordsOf(part) ?? []).join("\n");
}

/** Types of text parts: in the AI SDK and Anthropic; as input and output in OpenAI. */
const TEXTS: readonly unknown[] = ["text", "input_text", "output_text"];

function wordsOf(part: unknown): string | null {
  if (typeof part !== "object" || part === null || !("type" in part) || !TEXTS.includes(part.type))
    return null;
  return "text" in part && typeof part.text === "string" ? part.text : null;
}

/** Messages as text for a summary; parts without text (tool calls and results) as JSON. */
export function transcriptOf(messages: readonly DexMessage[]): string {
  return messages
    .map((message) => {
      const said = textOf(message);
      const whole = said === "" ? jsonOf(message) : said;
      return `${message.role}: ${whole.length > MESSAGE ? `${whole.slice(0, MESSAGE)}… (cut)` : whole}`;
    })
    .join("\n");
}

/** Cuts the middle of a long transcript; the end tells how a turn ended. */
export const shortened = (transcript: string, most: number): string =>
  transcript.length <= most
    ? transcript
    : `${transcript.slice(0, most / 2)}\n… (cut)\n${transcript.slice(-most / 2)}`;

/** Finds the new messages of a conversation; a host gives the whole one or only the new part. */
export class Seen {
  /** The conversation so far. */
  readonly #said: string[] = [];
  /** How often a conversation had the object: a host may say "Continue" twice with one. */
  readonly #objects = new WeakMap<DexMessage, number>();
  readonly #ids = new Set<string>();

  /** Returns the messages that are new, and records them. */
  fresh<M extends DexMessage>(messages: readonly M[]): M[] {
    const times = new Map<M, number>();
    const unknown = messages.filter((message) => {
      const time = (times.get(message) ?? 0) + 1;
      times.set(message, time);
      return !this.#knows(message, time);
    });
    // A host may recreate its messages without ids: skips the overlap with the conversation so far.
    const begun = unknown.length < messages.length ? 0 : overlap(this.#said, unknown.map(jsonOf));
    const fresh = unknown.slice(begun);
    this.#said.push(...fresh.map(jsonOf));
    for (const [message, time] of times) {
      this.#objects.set(message, Math.max(time, this.#objects.get(message) ?? 0));
      const id = idOf(message);
      if (id !== null) this.#ids.add(id);
    }
    return fresh;
  }

  #knows(message: DexMessage, time: number): boolean {
    const id = idOf(message);
    return time <= (this.#objects.get(message) ?? 0) || (id !== null && this.#ids.has(id));
  }
}

/** The host's id of a message. */
const idOf = (message: DexMessage): string | null =>
  "id" in message && typeof message.id === "string" && message.id !== "" ? message.id : null;

/** The whole message as JSON; its text if it has no JSON. */
function jsonOf(message: DexMessage): string {
  try {
    return JSON.stringify(message);
  } catch {
    return `${message.role}: ${textOf(message)}`;
  }
}
