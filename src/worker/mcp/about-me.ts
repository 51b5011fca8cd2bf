import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import { ok, type Result } from "../../domain/errors.ts";
import { factsText } from "./resources.ts";
import type { Context } from "./tool.ts";

/** The prompt that a user picks to see the facts about them. */
export const aboutMe: Prompt = {
  name: "about_me",
  title: "What do you know about me?",
  description: "The facts that are stored about the user, the newest first.",
};

/** The user's question, with the facts that answer it. */
export async function aboutMePrompt(context: Context): Promise<Result<GetPromptResult>> {
  const facts = await factsText(context);
  if (!facts.ok) return facts;
  const text = `What do you know about me? Answer from what is remembered, sort it by topic, and tell me what looks outdated or contradictory.\n\n${facts.value}`;
  return ok({
    description: "The facts about the user.",
    messages: [{ role: "user", content: { type: "text", text } }],
  });
}
