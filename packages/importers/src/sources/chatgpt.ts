// ChatGPT: `conversations.json` of its data export, and the saved memories that its conversations contain.
import { createHash } from "node:crypto";
import { z } from "@hono/zod-openapi";
import { inTimeOrder } from "../order.ts";
import {
  type Found,
  type FoundMemory,
  type FoundMessage,
  inShort,
  isObject,
  optionalList,
  optionalText,
  present,
  type Remark,
  roleOf,
  type Shape,
  type Source,
  text,
  time,
} from "../source.ts";
import { pathTo } from "../tree.ts";

const Conversation = z.object({
  conversation_id: optionalText,
  id: optionalText,
  title: optionalText,
  create_time: time,
  update_time: time,
  current_node: optionalText,
  gizmo_id: optionalText,
  mapping: z.record(z.string(), z.unknown(), "is required: the messages by id, as in conversations.json"),
});
const Node = z.object({ parent: optionalText, message: z.unknown().optional() });
const Message = z.object({
  id: optionalText,
  author: z.object({ role: text, name: optionalText }, "is required: an object with a role"),
  create_time: time,
  recipient: optionalText,
  content: z.looseObject(
    { content_type: text, parts: optionalList, text: optionalText },
    "is required: an object with a content_type",
  ),
  metadata: z.object({ model_slug: optionalText }).nullish(),
});
type Message = z.infer<typeof Message>;

export const chatgpt: Source = {
  lists: new Set(["conversations"]),
  files: /(^|[\\/])conversations(-\d+)?\.json$/,
  open: () => ({ read: (value, shape) => conversationOf(shape(Conversation, value), shape) }),
};

function conversationOf(conversation: z.infer<typeof Conversation>, shape: Shape): Found[] {
  const threadId = shape(text, conversation.conversation_id ?? conversation.id, ".id");
  const example = inShort(conversation.title ?? threadId);
  const messages = messagesIn(conversation.mapping, { shape, example });
  const nodes = nodesIn(conversation.mapping, messages);
  const isList = ![...nodes.values()].some(({ parent }) => parent && nodes.has(parent));
  const path = isList ? [...messages.keys()] : pathTo(nodes, conversation.current_node);
  const found: Found[] = [];
  const first = isList ? null : nodes.get(path[0] ?? "")?.parent;
  if (first !== null && first !== undefined)
    found.push({ type: "skipped", reason: "messages before a gap in the conversation", example });
  const said: FoundMessage[] = [];
  for (const node of path) {
    const message = messages.get(node);
    if (message === undefined) continue;
    found.push(...memoriesIn(message, { threadId, node }));
    const kept = messageOf(message, { node, example });
    found.push(...kept.remarks);
    if (kept.message !== null) said.push({ message: kept.message, createdAt: message.create_time });
  }
  const onPath = new Set(path);
  const aside = [...messages.keys()].filter((node) => !onPath.has(node)).length;
  if (aside > 0)
    found.push({
      type: "skipped",
      reason: "messages on other branches of their conversation",
      example,
      count: aside,
    });
  return [
    {
      type: "thread",
      id: threadId,
      title: conversation.title ?? undefined,
      more: present({ gizmoId: conversation.gizmo_id }),
      createdAt: conversation.create_time,
      updatedAt: conversation.update_time,
      messages: isList ? inTimeOrder(said) : said,
    },
    ...found,
  ];
}

type Mapping = Readonly<Record<string, unknown>>;

/** The messages by the id of their node. */
function messagesIn(mapping: Mapping, { shape, example }: { shape: Shape; example: string }) {
  const messages = new Map<string, Message>();
  for (const [id, node] of Object.entries(mapping)) {
    const place = `.mapping.${id}`;
    if (isObject(node) && (node.message === null || node.message === undefined)) continue;
    const message = shape.entry(() => shape(Message, shape(Node, node, place).message, `${place}.message`), {
      entries: "messages",
      example,
    });
    if (message !== null) messages.set(id, message);
  }
  return messages;
}

/** A node whose message is odd still links its answers to its question. Its parent names it as a child, too. */
function nodesIn(mapping: Mapping, messages: ReadonlyMap<string, Message>) {
  const parents = new Map<string, string>();
  for (const [id, node] of Object.entries(mapping))
    if (isObject(node) && Array.isArray(node.children))
      for (const child of node.children) if (typeof child === "string") parents.set(child, id);
  return new Map(
    Object.entries(mapping).map(([id, node]) => {
      const parent = isObject(node) && typeof node.parent === "string" ? node.parent : parents.get(id);
      return [id, { id, parent, at: messages.get(id)?.create_time }] as const;
    }),
  );
}

type Kept = { message: FoundMessage["message"] | null; remarks: Remark[] };

function messageOf(message: Message, { node, example }: { node: string; example: string }): Kept {
  const { author, recipient, content, metadata } = message;
  const skip = (reason: string): Kept => ({ message: null, remarks: [{ type: "skipped", reason, example }] });
  const type = content.content_type;
  if (type === "reasoning_recap") return skip("notes on the time that the model thought");
  if (type === "user_editable_context") return skip("custom instructions, which each conversation repeats");
  if (type === "model_editable_context") return skip("lists of saved memories, which become memories");
  const { body, remarks } = bodyOf(content, example);
  if (typeof body === "string" && body.trim() === "") return skip("empty messages");
  const kept = {
    role: roleOf(author.role),
    content: body,
    ...present({
      id: message.id ?? node,
      // A user has no name here; a tool has that of the tool.
      name: author.name,
      recipient: recipient === "all" ? undefined : recipient,
      model: metadata?.model_slug,
    }),
  };
  return { message: kept, remarks };
}

type Body = { body: string | unknown[]; remarks: Remark[] };

function bodyOf(content: Message["content"], example: string): Body {
  const { content_type: type, parts, text: plain } = content;
  if (type === "thoughts") return { body: thoughtsIn(content), remarks: [] };
  if (parts !== null && parts !== undefined) {
    const strings = parts.filter((part) => typeof part === "string");
    if (strings.length === parts.length)
      return { body: strings.filter((one) => one !== "").join("\n"), remarks: [] };
    return {
      body: parts.flatMap(partOf),
      remarks: [changed("files: only their names or references are kept", example)],
    };
  }
  const words = [plain, content.result, content.content].find((one) => typeof one === "string");
  const isText = typeof words === "string";
  // A page that was read has its address too.
  const page = present({ title: content.title, url: content.url });
  if (isText && Object.keys(page).length === 0) return { body: words, remarks: [] };
  if (isText) return { body: [{ type: "text", text: words, ...page }], remarks: [] };
  const { content_type: _, ...rest } = content;
  return {
    body: [{ type, ...rest }],
    remarks: [changed("messages of other kinds: kept, and not searched", example)],
  };
}

const changed = (reason: string, example: string): Remark => ({ type: "changed", reason, example });

/** A part of a message: a text, or what it has instead of one, such as a pointer to an image. */
function partOf(part: unknown): unknown[] {
  if (part === "") return [];
  if (typeof part === "string") return [{ type: "text", text: part }];
  if (!isObject(part)) return [{ type: "unknown", value: part }];
  const { content_type: type, ...rest } = part;
  if (type === "audio_transcription" && typeof part.text === "string")
    return [{ type: "text", text: part.text }];
  return [{ type: typeof type === "string" ? type : "unknown", ...rest }];
}

function thoughtsIn({ thoughts }: Message["content"]): unknown[] | string {
  if (!Array.isArray(thoughts)) return "";
  const texts = thoughts.flatMap((one: unknown) =>
    isObject(one)
      ? [[one.summary, one.content].filter((said) => typeof said === "string" && said !== "").join("\n")]
      : [],
  );
  const whole = texts.filter((said) => said !== "").join("\n\n");
  return whole === "" ? "" : [{ type: "reasoning", text: whole }];
}

/** An entry in the list of saved memories: `1. [2025-01-31]. The user lives in Lisbon.` */
const SAVED = /^\d+\. \[(\d{4}-\d\d-\d\d)\]\.? *((?:(?!\n\d+\. \[)[^])*)/gm;

/** The memories that the model saved with its tool `bio`, and those that it was shown. */
function memoriesIn(message: Message, { threadId, node }: { threadId: string; node: string }): FoundMemory[] {
  const { content, recipient, author, create_time: createdAt } = message;
  if (content.content_type === "model_editable_context" && typeof content.model_set_context === "string")
    return Array.from(content.model_set_context.matchAll(SAVED), ([, date = "", said = ""]) =>
      savedMemory(said, { createdAt: Date.parse(date) }),
    ).filter(({ text: said }) => said !== "");
  const said = (content.parts ?? []).filter((part) => typeof part === "string").join("\n");
  // Newer models send commands as JSON, and a word where there is nothing to save.
  const saves = author.role === "assistant" && recipient === "bio" && /^[^{[].* /s.test(said.trim());
  return saves ? [savedMemory(said, { createdAt, thread: threadId, message: message.id ?? node })] : [];
}

/** The export has no ids of memories: the text is the id. */
function savedMemory(said: string, rest: Pick<FoundMemory, "createdAt" | "thread" | "message">): FoundMemory {
  const words = said.trim();
  const hash = createHash("sha256").update(words).digest("base64url").slice(0, 22);
  return { type: "memory", id: `memory:${hash}`, text: words, tags: ["saved-memory"], ...rest };
}
