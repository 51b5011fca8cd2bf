// Converts items to entries. A JSON text is stored as its value, so that the API and other adapters read an object.
// Reads return the same text, to the character.

import { base64Of, bytesOfBase64 } from "../bytes/base64.ts";

/** An entry with only this field holds bytes. */
const BYTES = "$bytes";

/** The entry of a text. */
export function entryOfText(text: string): unknown {
  const value = parsed(text);
  // Stores a JSON string as it is: `"x"` and `x` differ. No text may look like bytes.
  return value === undefined || typeof value === "string" || base64In(value) !== null ? text : value;
}

/** The entry of bytes in any buffer or view, or of a Blob. */
export async function entryOfBytes(value: unknown): Promise<unknown> {
  return { [BYTES]: base64Of(await asBytes(value)) };
}

/** The text that was set; bytes become `base64:` and Base64, as in drivers without bytes. */
export function textOf(found: { value?: unknown } | null): string | null {
  if (found === null) return null;
  if (typeof found.value === "string") return found.value;
  const base64 = base64In(found.value);
  return base64 === null ? JSON.stringify(found.value) : `base64:${base64}`;
}

/** The bytes that were set; null for other entries. */
export function bytesOf(value: unknown): Uint8Array | null {
  const base64 = base64In(value);
  return base64 === null ? null : bytesOfBase64(base64);
}

/** Parses a JSON text that prints back identically; else undefined. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    // Not JSON, or nested too deeply to print.
    return undefined;
  }
}

function base64In(value: unknown): string | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const [[field, content] = [], ...more] = Object.entries(value);
  return field === BYTES && typeof content === "string" && more.length === 0 ? content : null;
}

async function asBytes(value: unknown): Promise<Uint8Array> {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (value instanceof Blob) return new Uint8Array(await value.arrayBuffer());
  throw new TypeError("setItemRaw takes a string, a buffer or a view of one, or a Blob");
}
