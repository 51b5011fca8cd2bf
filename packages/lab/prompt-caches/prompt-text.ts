import type { CallParams, PromptMessage } from "#adapters/ai-sdk/sdk.ts";
import type { SentPrompt } from "./prompt-cache.ts";

/**
 * The text of a call as a provider's cache compares it: the tools, then message by message. Each system message and the last
 * message are marked to be cached up to, as a program does that wants its conversation cached.
 */
export function promptText({
  prompt,
  tools = [],
}: Pick<CallParams, "prompt" | "tools">): Omit<SentPrompt, "at"> {
  let text = tools.map((tool) => JSON.stringify(tool)).join("");
  const breakpoints: number[] = [];
  for (const [i, message] of prompt.entries()) {
    text += messageText(message);
    if (message.role === "system" || i === prompt.length - 1) breakpoints.push(text.length);
  }
  return { text, breakpoints };
}

/** The end of a message shows, so that no text is the beginning of another. */
const messageText = ({ role, content }: PromptMessage): string =>
  `<${role}>${typeof content === "string" ? content : content.map(partText).join("\n")}</${role}>\n`;

const partText = (part: Exclude<PromptMessage["content"], string>[number]): string =>
  part.type === "text" ? part.text : JSON.stringify(part);
