/** base64url of the first 16 bytes of SHA-256 of `text` in UTF-8: 22 characters. */
export async function hash16(text: string): Promise<string> {
  return base64url((await sha256(text)).subarray(0, 16));
}

export async function sha256Base64url(text: string): Promise<string> {
  return base64url(await sha256(text));
}

export async function sha256Hex(text: string): Promise<string> {
  return Array.from(await sha256(text), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** SHA-256 of `text` in UTF-8: 32 bytes. */
export async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/** 32 bits of FNV-1a of `text` in UTF-8. */
export function hash32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

/** base64url without padding, of some kilobytes at most: the bytes are passed as arguments. */
export const base64url = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
