const LIFETIME_SECONDS = 10 * 60;

/**
 * A token that opens the memory of one user, and nobody else's, for ten minutes: a JWT with HS256 (docs/security.md). Any
 * JWT library does this; here it is without one.
 */
export async function mintToken(secret: string, user: string): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const claims = { sub: user, scope: "read write", iat: now, exp: now + LIFETIME_SECONDS };
  const unsigned = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const key = await crypto.subtle.importKey("raw", bytes(secret), hmac, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, bytes(unsigned));
  return `${unsigned}.${base64url(new Uint8Array(signature))}`;
}

const bytes = (text: string) => new TextEncoder().encode(text);

const part = (value: unknown): string => base64url(bytes(JSON.stringify(value)));

const base64url = (from: Uint8Array): string =>
  btoa(String.fromCharCode(...from))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
