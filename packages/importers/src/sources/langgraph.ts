// LangGraph: items of a `BaseStore`, threads with messages of the platform, and checkpoints with plain messages.
import { z } from "@hono/zod-openapi";
import { limits } from "../../../../src/domain/limits.ts";
import { isDeeper } from "../nesting.ts";
import type { Message } from "../../../../src/domain/schema/thread.ts";
import {
  type Found,
  id,
  inShort,
  isObject,
  optionalText,
  present,
  roleOf,
  type Shape,
  type Source,
  text,
  time,
} from "../source.ts";

const Item = z.object({
  namespace: z.array(z.string("is no string"), "is required: a list of strings").optional(),
  /** The namespace in a table of the store, joined by dots. */
  prefix: optionalText,
  key: id,
  value: z
    .record(z.string(), z.unknown(), "is required: an object")
    .refine((value) => !isDeeper(value, limits.messageDepth), `is nested deeper than ${limits.messageDepth}`),
  created_at: time,
  createdAt: time,
  updated_at: time,
  updatedAt: time,
});
const Times = z.object({ created_at: time, createdAt: time, updated_at: time, updatedAt: time, ts: time });

export const langgraph: Source = {
  lists: new Set(["items", "threads", "checkpoints"]),
  files: /\.jsonl?$/,
  open: (names) => ({
    read: (value, shape) => [
      isThread(value) ? newestOf(threadOf(value, shape), names) : itemOf(shape(Item, value), shape),
    ],
  }),
  readsAhead: true,
};

/**
 * The thread, if its export has no newer checkpoint of it. A database lists the oldest first, the checkpointer's `list` the
 * newest. `names` has the newest time of each, as text.
 */
function newestOf(found: Found, names: Map<string, string>): Found {
  if (found.type !== "thread" || found.updatedAt === undefined) return found;
  const newest = Number(names.get(found.id) ?? -Infinity);
  if (found.updatedAt < newest)
    return { type: "skipped", reason: "former checkpoints of a thread", example: inShort(found.id) };
  names.set(found.id, String(found.updatedAt));
  return found;
}

const isThread = (value: unknown): value is Record<string, unknown> =>
  isObject(value) &&
  !("key" in value) &&
  ("thread_id" in value || "checkpoint" in value || "values" in value || "config" in value);

/** Members of a value that hold its text, in this order. */
const TEXTS = ["text", "content", "memory", "data", "fact"];

function itemOf(item: z.infer<typeof Item>, shape: Shape): Found {
  const namespace = item.namespace ?? shape(text, item.prefix).split(".");
  const said = textIn(item.value);
  return {
    type: "memory",
    id: [...namespace, item.key].map(encodeURIComponent).join("/"),
    text: said ?? JSON.stringify(item.value),
    more: {
      namespace,
      key: item.key,
      ...(said !== null && Object.keys(item.value).length > 1 && { value: item.value }),
    },
    createdAt: item.created_at ?? item.createdAt,
    updatedAt: item.updated_at ?? item.updatedAt,
  };
}

/** LangMem nests it: `{ kind: "Memory", content: { content: "…" } }`. */
function textIn(value: Record<string, unknown>): string | null {
  for (const name of TEXTS) {
    const member = value[name];
    if (typeof member === "string") return member;
    const inner = name === "content" && isObject(member) ? textIn(member) : null;
    if (inner !== null) return inner;
  }
  return null;
}

const within = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inner, step) => (isObject(inner) ? inner[step] : undefined), value);

function threadOf(value: Record<string, unknown>, shape: Shape): Found {
  const threadId = shape(
    id,
    value.thread_id ??
      within(value, "config", "configurable", "thread_id") ??
      within(value, "metadata", "thread_id"),
  );
  const messages =
    value.messages ??
    within(value, "values", "messages") ??
    within(value, "checkpoint", "channel_values", "messages");
  if (messages === undefined || messages === null)
    return { type: "skipped", reason: "threads without messages", example: threadId };
  const times = shape(Times, value);
  const { ts } = shape(z.object({ ts: time }), { ts: within(value, "checkpoint", "ts") });
  const updatedAt = times.updated_at ?? times.updatedAt ?? times.ts ?? ts;
  const list = shape(
    z.array(z.unknown(), "is no list: load serialised messages first"),
    messages,
    ".messages",
  );
  return {
    type: "thread",
    id: threadId,
    createdAt: times.created_at ?? times.createdAt ?? updatedAt,
    updatedAt,
    messages: list.flatMap((one, i) => {
      const read = () => ({ message: messageOf(shape(Plain, plain(one), `.messages[${i}]`)) });
      return shape.entry(read, { entries: "messages", example: inShort(threadId) }) ?? [];
    }),
  };
}

const Plain = z
  .object({
    type: optionalText,
    role: optionalText,
    content: z.union([z.string(), z.array(z.unknown())], "is no text and no list of parts").nullish(),
    id: optionalText,
    name: optionalText,
    tool_call_id: optionalText,
    tool_calls: z.unknown().optional(),
  })
  .superRefine(({ role, type, content, tool_calls: calls }, context) => {
    const required = (field: string) =>
      context.addIssue({ code: "custom", path: [field], message: "is required" });
    if ((role ?? type ?? "") === "") required("role");
    if ((content ?? null) === null && !Array.isArray(calls)) required("content");
  });

/** A message of LangChain as one object: `{ type, data }` and the serialised `{ lc, id, kwargs }` hold it inside. */
function plain(message: unknown): unknown {
  if (!isObject(message)) return message;
  if (isObject(message.data)) return { type: message.type, ...message.data };
  if (isObject(message.kwargs) && Array.isArray(message.id)) {
    const name = String(message.id.at(-1) ?? "");
    return { type: name.replace(/Message(Chunk)?$/, "").toLowerCase(), ...message.kwargs };
  }
  return message;
}

function messageOf({ role, type, content, tool_calls: calls, ...more }: z.infer<typeof Plain>): Message {
  return {
    role: roleOf(role ?? type ?? ""),
    content: content ?? "",
    ...present({ ...more, tool_calls: Array.isArray(calls) && calls.length === 0 ? undefined : calls }),
  };
}
