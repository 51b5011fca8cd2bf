/** Any SDK's own message type fits, and what came as JSON too: fields are read with care, and kept. */
export type AnyMessage = object;

export type ContentPart =
  | { type: "text"; text: string }
  | { type: "image"; data: string; mimeType: string }
  | { type: "document"; data: string; mimeType: string; name?: string };

export type AiMessage = {
  role: "system" | "user" | "assistant" | "tool";
  content: string | ContentPart[];
  toolCallId?: string;
  toolCalls?: { id: string; name: string; arguments: Record<string, unknown> }[];
  _pending?: boolean;
};

/** The field of something that a caller sent: undefined if that is no object, or has no such field of its own. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) return undefined;
  // Not `name in value`: a field that is inherited was not sent.
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

export function textField(value: unknown, name: string): string | undefined {
  const text = field(value, name);
  return typeof text === "string" ? text : undefined;
}

export function listField(value: unknown, name: string): readonly unknown[] {
  const list = field(value, name);
  return Array.isArray(list) ? list : [];
}
