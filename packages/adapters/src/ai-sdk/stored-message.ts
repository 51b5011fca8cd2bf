import { field } from "../../../../src/domain/conversation/message.ts";
import type { Message } from "../../../client/src/shapes.ts";
import { base64Of } from "../bytes/base64.ts";
import type { PromptMessage } from "./sdk.ts";

/**
 * A message as it is stored: the SDK's whole `ModelMessage`, as JSON. Bytes become Base64 and URLs strings, which the
 * SDK also takes; undefined fields are dropped.
 */
export function storedMessage(message: PromptMessage): Message {
  const { content } = message;
  const whole = { ...message, content: typeof content === "string" ? content : content.map(storedPart) };
  return asJson(whole) as Message; // a role and a content, as every message of a prompt has
}

/** A file's data are in the part itself, as Base64 or a URL: so a `ModelMessage` may have them in JSON. */
function storedPart(part: object): unknown {
  const type = field(part, "type");
  const data = field(part, "data");
  if (type !== "file" && type !== "reasoning-file") return part;
  const kind = field(data, "type");
  return { ...part, data: kind === "data" || kind === "url" ? field(data, kind) : data };
}

function asJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return base64Of(value);
  if (value instanceof ArrayBuffer) return base64Of(new Uint8Array(value));
  if (Array.isArray(value)) return value.map((item) => asJson(item) ?? null);
  if (typeof value !== "object" || value === null || "toJSON" in value) return value;
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(fields.map(([name, one]) => [name, asJson(one)]));
}
