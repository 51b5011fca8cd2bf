import { type BaseMessage, SystemMessage } from "@langchain/core/messages";
import type { PromptMemory, PromptMessage } from "../context/prompt-memory.ts";
import type { Message } from "../../../client/src/shapes.ts";

type Content = BaseMessage["content"];

/** The names that LangChain has for roles. */
const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant" };

/** A message as Cairn reads it. */
export function promptMessage(message: BaseMessage): PromptMessage {
  const type = message.getType();
  const role = type === "generic" && "role" in message ? String(message.role) : type;
  return { role: ROLES[role] ?? role, content: message.content };
}

/**
 * A message for an ingest, which knows a message of parts by its id: an edited one replaces the former one. With the name of a user,
 * or of an agent that a graph lets speak as one: it is not the user's own word.
 */
export function identified(message: BaseMessage): Message {
  const { role, content } = promptMessage(message);
  const { id, name = "" } = message;
  const named = role === "user" && name !== "" ? { name } : {};
  return id === undefined || id === ""
    ? { role, ...named, content }
    : { id, role, ...named, parts: partsOf(message.content) };
}

/**
 * Copies of the messages with their blocks. The stable block ends the last system message of the beginning: some
 * providers take only one.
 */
export function withMemory(
  messages: readonly BaseMessage[],
  { stable, blocks }: PromptMemory,
): BaseMessage[] {
  const told = messages.map((message, index) => {
    const block = blocks.get(index);
    return block === undefined ? message : withContent(message, joined(block, message.content));
  });
  if (stable === "") return told;
  const first = told.findIndex((message) => message.getType() !== "system");
  const head = first < 0 ? told.length : first;
  const system = told[head - 1];
  return system === undefined
    ? [new SystemMessage(stable), ...told]
    : told.with(head - 1, withContent(system, joined(system.content, stable)));
}

/** Text and parts, one behind the other; parts stay as they are. */
function joined(one: Content, other: Content): Content {
  if (typeof one === "string" && typeof other === "string") return one === "" ? other : `${one}\n\n${other}`;
  return [...partsOf(one), ...partsOf(other)];
}

const partsOf = (content: Content) =>
  content === "" ? [] : typeof content === "string" ? [{ type: "text" as const, text: content }] : content;

/** A copy of the same class with the same id and fields. The message itself belongs to the graph's state. */
function withContent(message: BaseMessage, content: Content): BaseMessage {
  // The prototype of a message gives a message.
  const copy = Object.create(Object.getPrototypeOf(message)) as BaseMessage;
  return Object.assign(copy, message, { content, lc_kwargs: { ...message.lc_kwargs, content } });
}
