import type { Cairn } from "edgecairn";

/** One thing that was checked of a receipt, in words. */
export type Check = { what: string; ok: boolean };
export type Verified = { checks: Check[]; payload: Readonly<Record<string, unknown>> | null };

const bytesOf = (base64url: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const jsonOf = (part: string): Record<string, unknown> =>
  JSON.parse(new TextDecoder().decode(bytesOf(part))) as Record<string, unknown>;

/** Verifies a receipt in the browser, step by step: its form, its key, its signature, and whose it is. */
export async function verify(memory: Cairn, receipt: string, user: string): Promise<Verified> {
  const checks: Check[] = [];
  const check = (what: string, ok: boolean): boolean => {
    checks.push({ what, ok });
    return ok;
  };
  const [header = "", payload = "", signature = ""] = receipt.split(".");
  const { alg, kid, typ } = jsonOf(header);
  if (
    !check(
      `It is a receipt: ${String(typ)}, signed with ${String(alg)}.`,
      typ === "cairn-erasure+jws" && alg === "EdDSA",
    )
  )
    return { checks, payload: null };
  const { keys } = await memory.tenant.receiptKeys();
  const key = keys.find((one) => one.kid === kid);
  check(`Its key ${String(kid)} is one that this Cairn publishes.`, key !== undefined);
  if (key === undefined) return { checks, payload: null };
  const { kty, crv, x } = key;
  const publicKey = await crypto.subtle.importKey("jwk", { kty, crv, x }, { name: "Ed25519" }, false, [
    "verify",
  ]);
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  check(
    "The signature holds: nothing in it was changed.",
    await crypto.subtle.verify({ name: "Ed25519" }, publicKey, bytesOf(signature), signed),
  );
  const said = jsonOf(payload);
  check("It is about this user: the hash of the user’s id is in it.", said["sub"] === (await hashOf(user)));
  return { checks, payload: said };
}

/** base64url of the first 16 bytes of SHA-256 of `cairn:user:<id>` (docs/reference/erasure.md). */
async function hashOf(user: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`cairn:user:${user}`));
  return btoa(String.fromCharCode(...new Uint8Array(hash, 0, 16)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}
