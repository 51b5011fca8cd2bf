import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import { base64Of, bytesOfBase64 } from "../bytes/base64.ts";

/** A serializer's output as JSON, readable where it is JSON or text itself. */
export type Serialized = { type: string } & ({ json: unknown } | { text: string } | { base64: string });

/** Lossless: `deserialized` gives the serializer exactly these bytes. */
export async function serialized(serde: SerializerProtocol, value: unknown): Promise<Serialized> {
  const [type, bytes] = await serde.dumpsTyped(value);
  const text = textOf(bytes);
  if (text === undefined) return { type, base64: base64Of(bytes) };
  const json = jsonOf(text);
  return json === undefined ? { type, text } : { type, json };
}

export function deserialized(serde: SerializerProtocol, stored: Serialized): Promise<unknown> {
  const { type } = stored;
  if ("base64" in stored) return serde.loadsTyped(type, bytesOfBase64(stored.base64));
  const text = "text" in stored ? stored.text : JSON.stringify(stored.json);
  return serde.loadsTyped(type, new TextEncoder().encode(text));
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The parsed value, if its JSON is exactly this text. */
function jsonOf(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return JSON.stringify(json) === text ? json : undefined;
  } catch {
    return undefined;
  }
}
