/** Returns a random id of 32 hexadecimal digits. Browsers offer `randomUUID` only to pages with TLS. */
export const newId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
