import type { AgentInputItem } from "@openai/agents-core";
import type { PromptMessage } from "../context/prompt-memory.ts";

/** A message of the user, in the SDK's own shape. */
export type UserItem = Extract<AgentInputItem, { role: "user" }>;

export const isUserItem = (item: AgentInputItem | undefined): item is UserItem =>
  item !== undefined && "role" in item && item.role === "user";

/** An item as Cairn reads it. Calls, results and reasoning have no role. */
export const promptMessage = (item: AgentInputItem): PromptMessage =>
  "role" in item ? { role: item.role, content: item.content } : { role: "" };

/** The content of a user's message with its block before it. */
export const contentWithBlock = (content: UserItem["content"], block: string): UserItem["content"] =>
  typeof content === "string" ? `${block}\n\n${content}` : [{ type: "input_text", text: block }, ...content];

/** The item with its block; an item that is not the user's stays as it is. */
export const itemWithBlock = (item: AgentInputItem, block: string | undefined): AgentInputItem =>
  block !== undefined && isUserItem(item)
    ? { ...item, content: contentWithBlock(item.content, block) }
    : item;
