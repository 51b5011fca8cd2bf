// An item of the Agents SDK as a message. What has a role and a content is a message as it is. Everything else (calls, their
// results, reasoning) is kept whole in `agentItem`, in a message of the role and text that other readers expect of it.
import type { AgentInputItem } from "@openai/agents-core";
import type { Message, StoredMessage } from "../../shapes.ts";
import { base64Of, bytesOfBase64 } from "../bytes/base64.ts";

type Fields = Record<string, unknown>;
/** Bytes have no JSON: where in the item they were, and what. */
type Bytes = { path: (string | number)[]; base64: string };

/** What `messageOf` adds to a message of an item that is none. */
type Kept = { agentItem: Fields; agentItemBytes?: Bytes[] };

/** The item as a message that `itemOf` makes the same item of. */
export function messageOf(item: AgentInputItem): Message {
  const bytes: Bytes[] = [];
  const json = withoutBytes(item, [], bytes) as Fields; // An object gives an object.
  if (bytes.length === 0 && isMessage(json)) return json;
  const kept: Kept = { agentItem: json, ...(bytes.length > 0 && { agentItemBytes: bytes }) };
  return { ...shownAs(json), ...kept };
}

/** The item that a message was made of; a message of another adapter's is an item too. */
export function itemOf(message: StoredMessage["message"]): AgentInputItem {
  // What `messageOf` was given; the SDK checks what it reads.
  if (!Object.hasOwn(message, "agentItem")) return message as unknown as AgentInputItem;
  const { agentItem, agentItemBytes = [] } = message as unknown as Kept;
  for (const { path, base64 } of agentItemBytes) setAt(agentItem, path, bytesOfBase64(base64));
  return agentItem as unknown as AgentInputItem;
}

const isMessage = (item: Fields): item is Message =>
  typeof item.role === "string" &&
  item.role !== "" &&
  (typeof item.content === "string" || Array.isArray(item.content)) &&
  !Object.hasOwn(item, "agentItem");

/** What readers that know OpenAI's chat completions see. Reasoning is nothing that was said. */
function shownAs(item: Fields): Message {
  const { type, role, content, callId, output } = item;
  if (typeof role === "string") return { role, content: textOf(content) };
  const name = String(type);
  if (/_(result|output)$/.test(name))
    return {
      role: "tool",
      content: textOf(output),
      ...(typeof callId === "string" && { tool_call_id: callId }),
    };
  if (typeof callId === "string")
    return { role: "assistant", content: null, tool_calls: [callOf(callId, item)] };
  return { role: "assistant", content: name === "hosted_tool_call" ? textOf(output) : null };
}

const callOf = (id: string, { type, name, arguments: given, action }: Fields) => ({
  id,
  type: "function",
  function: {
    name: typeof name === "string" ? name : String(type),
    arguments: typeof given === "string" ? given : JSON.stringify(action ?? {}),
  },
});

/** The text in a text, in a part, or in a list of these. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value))
    return value
      .map(textOf)
      .filter((text) => text !== "")
      .join("\n");
  if (typeof value !== "object" || value === null) return "";
  return "text" in value && typeof value.text === "string" ? value.text : "";
}

/** A copy in which null stands for bytes; these are added to `found`. */
function withoutBytes(value: unknown, path: Bytes["path"], found: Bytes[]): unknown {
  if (value instanceof Uint8Array) {
    found.push({ path, base64: base64Of(value) });
    return null;
  }
  if (Array.isArray(value)) return value.map((element, i) => withoutBytes(element, [...path, i], found));
  // What is no plain object has a JSON of its own.
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([field, content]) => [field, withoutBytes(content, [...path, field], found)]),
  );
}

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

function setAt(root: Fields, path: Bytes["path"], value: unknown): void {
  const last = path.at(-1);
  // Nothing but what `withoutBytes` has walked through.
  const parent = path.slice(0, -1).reduce<Fields>((at, step) => at[step] as Fields, root);
  if (last !== undefined) parent[last] = value;
}
