import type { Message, MessageNote } from "../schema/thread.ts";

/** The roles that rules know: those that speak, and those of results of tools. */
const ROLES = ["user", "assistant", "system", "developer", "tool"];
/** Roles of formats that some rule reads: Gemini's answers, OpenAI's old results. */
const OF_FORMATS = ["model", "function"];
const KNOWN: ReadonlySet<string> = new Set([...ROLES, ...OF_FORMATS]);

/** Notes each message with a role that no rule knows. It is stored as it came. */
export function notesOf(messages: readonly Pick<Message, "role">[]): { notes?: MessageNote[] } {
  const notes = messages.flatMap(({ role }, index): MessageNote[] =>
    KNOWN.has(role) ? [] : [{ index, code: "unknown_role", message: messageOf(role) }],
  );
  return notes.length === 0 ? {} : { notes };
}

const messageOf = (role: string): string =>
  `The role "${role}" counts as a tool: no live fact comes of what it says, and no context takes it for the user's. ` +
  `Rules know ${ROLES.slice(0, -1).join(", ")} and ${ROLES.at(-1)}, in small letters.`;
