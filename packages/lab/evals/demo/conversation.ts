// The format of conversation files, which the examples and the public benchmark files share.
import { readFileSync } from "node:fs";
import { z } from "zod";

const turn = z.object({
  id: z.string(),
  speaker: z.string(),
  /** Without it, the first speaker is the user and everyone else the assistant. */
  role: z.enum(["user", "assistant"]).optional(),
  text: z.string(),
  caption: z.string().optional(),
});
const question = z.object({
  question: z.string(),
  /** The ids of the turns, and of the facts, that hold the answer. */
  evidence: z.array(z.string()).default([]),
  /** A word for its kind, as `temporal` or `abstention`. */
  type: z.string().optional(),
  /** False: nothing that was said answers it. */
  answerable: z.boolean().default(true),
  /** 5: adversarial, about something that was never said; left out of scores. */
  category: z.number().optional(),
});
const fact = z.object({
  id: z.string(),
  text: z.string(),
  tags: z.array(z.string()).optional(),
  /** The fact that this one takes the place of, since something has changed. */
  replaces: z.string().optional(),
  /** The ids of the turns that it was taken from. */
  evidence: z.array(z.string()).default([]),
});
const conversation = z.object({
  id: z.string(),
  sessions: z.array(z.object({ date: z.string().optional(), turns: z.array(turn) })),
  facts: z.array(fact).default([]),
  questions: z.array(question).default([]),
});
const file = z.object({ conversations: z.array(conversation).min(1) });

export type Turn = z.infer<typeof turn>;
export type Question = z.infer<typeof question>;
export type Conversation = z.infer<typeof conversation>;

const ADVERSARIAL = 5;

export const isAnswerable = ({ answerable, category }: Question): boolean =>
  answerable && category !== ADVERSARIAL;

export const turnsOf = (one: Conversation): Turn[] => one.sessions.flatMap(({ turns }) => turns);

/** The text of a turn, with the caption of its picture. */
export const contentOf = ({ text, caption }: Turn): string =>
  caption === undefined ? text : `${text} [${caption}]`;

/** The role and the name that a turn is appended with. A name that only repeats the role is left out. */
export const authorOf = (
  { role, speaker }: Pick<Turn, "role" | "speaker">,
  firstSpeaker: string | undefined,
): { role: "user" | "assistant"; name?: string } => ({
  role: role ?? (speaker === firstSpeaker ? "user" : "assistant"),
  ...(speaker !== role && { name: speaker }),
});

/** Reads and checks a conversation file; throws with the offending field if it is none. */
export function readConversations(path: string): Conversation[] {
  const read = file.safeParse(parsed(path));
  if (!read.success) throw new Error(`${path} is no conversation file:\n${z.prettifyError(read.error)}`);
  return read.data.conversations;
}

function parsed(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    throw new Error(
      `${path} cannot be read as JSON: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
}
