export function base64Of(bytes: Uint8Array): string {
  let binary = "";
  // Some thousand at a time: arguments are passed on the stack.
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary);
}

export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  // Not `Uint8Array.from`, which calls a function for each byte: for 5 MiB it takes most of a second.
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
