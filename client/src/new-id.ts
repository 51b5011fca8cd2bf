/** An id that no other will be: 32 hexadecimal digits. Not `randomUUID`, which browsers keep from pages without TLS. */
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
