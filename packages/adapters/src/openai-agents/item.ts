// Stores an item of the Agents SDK as a message. A message in the SDK's own shape is stored as it is. All else (calls,
// results, reasoning) is stored whole in `agentItem`, with the role and text that other readers expect.
import type { AgentInputItem } from "@openai/agents-core";
import { field } from "../../../../src/domain/conversation/message.ts";
import type { Message, StoredMessage } from "../../../client/src/shapes.ts";
import { base64Of, bytesOfBase64 } from "../bytes/base64.ts";
import { itemsOfOther } from "./other-message.ts";

type Fields = Record<string, unknown>;
/** Bytes have no JSON: their path in the item, and their Base64. */
type Bytes = { path: (string | number)[]; base64: string };

/** The fields that `messageOf` adds for an item that is not a message. */
type Kept = { agentItem: Fields; agentItemBytes?: Bytes[] };

/** Converts an item to a message; `itemsOf` restores the same item. */
export function messageOf(item: AgentInputItem): Message {
  const bytes: Bytes[] = [];
  const json = withoutBytes(item, [], bytes) as Fields; // An object gives an object.
  if (bytes.length === 0 && isMessage(json)) return json as Message; // It has a role.
  const kept: Kept = { agentItem: json, ...(bytes.length > 0 && { agentItemBytes: bytes }) };
  return { ...shownAs(json), ...kept };
}

/** The items of messages; another adapter's messages are converted. */
export function itemsOf(messages: readonly StoredMessage["message"][]): AgentInputItem[] {
  const names = new Map<string, string>();
  return messages.flatMap((message) => {
    if (Object.hasOwn(message, "agentItem")) {
      const item = keptIn(message);
      if (item.type === "function_call") names.set(item.callId, item.name);
      return [item];
    }
    // In the SDK's own shape, whoever stored it.
    return isMessage(message)
      ? [message as unknown as AgentInputItem]
      : itemsOfOther(message as Message, names); // It has a role.
  });
}

function keptIn(message: StoredMessage["message"]): AgentInputItem {
  // `messageOf` added these fields.
  const { agentItem, agentItemBytes = [] } = message as unknown as Kept;
  for (const { path, base64 } of agentItemBytes) setAt(agentItem, path, bytesOfBase64(base64));
  return agentItem as unknown as AgentInputItem;
}

/** The fields of a message, and the part types of each role. */
const FIELDS: readonly string[] = ["type", "id", "role", "content", "status", "providerData"];
const PARTS: Readonly<Record<string, readonly unknown[]>> = {
  user: ["input_text", "input_image", "input_file", "audio"],
  assistant: ["output_text", "refusal", "audio", "image"],
};

/** True for a message in the SDK's own shape, which its models take. */
function isMessage(item: Fields): boolean {
  const { type = "message", role, content, status } = item;
  if (type !== "message" || !Object.keys(item).every((name) => FIELDS.includes(name))) return false;
  if (typeof content === "string") return role === "user" || role === "system";
  const types = typeof role === "string" && Object.hasOwn(PARTS, role) ? PARTS[role] : undefined;
  if (types === undefined || !Array.isArray(content)) return false;
  if (role === "assistant" && typeof status !== "string") return false;
  return content.every((part) => types.includes(field(part, "type")));
}

/** Role and text for readers of OpenAI's chat completions. Reasoning has no text here. */
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

/** The text of a string, a part, or a list of them. */
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

/** A copy with null in place of bytes, which are added to `found`. */
function withoutBytes(value: unknown, path: Bytes["path"], found: Bytes[]): unknown {
  if (value instanceof Uint8Array) {
    found.push({ path, base64: base64Of(value) });
    return null;
  }
  if (Array.isArray(value)) return value.map((element, i) => withoutBytes(element, [...path, i], found));
  // Other objects have their own JSON.
  if (typeof value !== "object" || value === null || !isPlain(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [name, withoutBytes(content, [...path, name], found)]),
  );
}

const isPlain = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

function setAt(root: Fields, path: Bytes["path"], value: unknown): void {
  const last = path.at(-1);
  // The path leads through objects that `withoutBytes` visited.
  const parent = path.slice(0, -1).reduce<Fields>((at, step) => at[step] as Fields, root);
  if (last !== undefined) parent[last] = value;
}
