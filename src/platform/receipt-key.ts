import { calculateJwkThumbprint, CompactSign } from "jose";
import type { PublicKey } from "../domain/schema/erasure.ts";

type KeyPair = { key: CryptoKey; public: PublicKey };

const ALGORITHM = "EdDSA";
const TYPE = "cairn-erasure+jws";
/** PKCS #8 around the 32 bytes of a private key of Ed25519 (RFC 8410, section 7). */
const PKCS8 = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
const encoder = new TextEncoder();

/**
 * The Ed25519 key derived from the tenant's secret (HKDF, SHA-256). It needs no further secret, and its public half
 * verifies a receipt.
 */
export class DerivedReceiptKey {
  readonly #secret: string | undefined;
  /** Kept without its promise, which belongs to one request or object. */
  #pair: KeyPair | null = null;

  constructor(secret: string | undefined) {
    this.#secret = secret;
  }

  /** A compact JWS over the payload. */
  async sign(payload: object): Promise<string> {
    const pair = await this.#keys();
    return new CompactSign(encoder.encode(JSON.stringify(payload)))
      .setProtectedHeader({ alg: ALGORITHM, typ: TYPE, kid: pair.public.kid })
      .sign(pair.key);
  }

  async publicKey(): Promise<PublicKey> {
    return (await this.#keys()).public;
  }

  async #keys(): Promise<KeyPair> {
    return (this.#pair ??= await derived(this.#secret));
  }
}

async function derived(secret = ""): Promise<KeyPair> {
  if (secret === "") throw new Error("CAIRN_SECRET is not set");
  const { subtle } = crypto;
  const material = await subtle.importKey("raw", encoder.encode(secret), "HKDF", false, ["deriveBits"]);
  const how = {
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(),
    info: encoder.encode("cairn receipts, 1"),
  };
  const seed = new Uint8Array(await subtle.deriveBits(how, material, 256));
  // Exportable, to read its public half.
  const key = await subtle.importKey("pkcs8", Uint8Array.from([...PKCS8, ...seed]), "Ed25519", true, [
    "sign",
  ]);
  const jwk = await subtle.exportKey("jwk", key);
  if (!("x" in jwk) || typeof jwk.x !== "string") throw new Error("a key without its public half");
  const shown = { kty: "OKP", crv: "Ed25519", x: jwk.x };
  const kid = await calculateJwkThumbprint(shown);
  return { key, public: { ...shown, kid, alg: ALGORITHM, use: "sig" } };
}
