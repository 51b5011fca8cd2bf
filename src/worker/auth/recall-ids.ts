import { base64url } from "jose";
import { sha256 } from "../../domain/hash.ts";
import type { SigningKeys } from "./verify-own.ts";

const CIPHER = "AES-GCM";
/** AES-GCM wants 96 bits that no other text of the key has: the last ones of a UUID v7, of which 74 are random. */
const NONCE_BYTES = 12;

/**
 * Seals the ids of recalls. An id carries what the recall showed, and an outcome believes it: so a caller can neither read nor
 * change it. An object's id is `<user hash>.<uuid>.<packed>`, and its sealed one the same with the encrypted last part. The key
 * is derived from the tenant's secret. AES-GCM compares its tag in constant time.
 */
export class RecallIds {
  readonly #secrets: SigningKeys;
  readonly #keys = new Map<string, CryptoKey>();

  constructor(secrets: SigningKeys) {
    this.#secrets = secrets;
  }

  /** The same id is sealed alike each time, until the secret changes. */
  async sealed(id: string): Promise<string> {
    const [name, packed] = partsOf(id);
    const [secret] = this.#secrets;
    if (secret === undefined) throw new Error("CAIRN_SECRET is not set");
    const key = await this.#keyOf(secret);
    const bytes = await crypto.subtle.encrypt(cipherOf(name), key, base64url.decode(packed));
    return `${name}.${base64url.encode(new Uint8Array(bytes))}`;
  }

  /** Null for an id that no secret of the tenant sealed. */
  async opened(id: string): Promise<string | null> {
    const [name, sealed] = partsOf(id);
    for (const secret of this.#secrets)
      try {
        const key = await this.#keyOf(secret);
        const bytes = await crypto.subtle.decrypt(cipherOf(name), key, base64url.decode(sealed));
        return `${name}.${base64url.encode(new Uint8Array(bytes))}`;
      } catch {
        // Another secret may have sealed it.
      }
    return null;
  }

  async #keyOf(secret: string): Promise<CryptoKey> {
    const known = this.#keys.get(secret);
    if (known !== undefined) return known;
    const bytes = await sha256(`cairn:recall-id:${secret}`);
    const key = await crypto.subtle.importKey("raw", bytes, CIPHER, false, ["encrypt", "decrypt"]);
    this.#keys.set(secret, key);
    return key;
  }
}

/** `<user hash>.<uuid>`, and the rest. */
function partsOf(id: string): [name: string, rest: string] {
  const [owner = "", uuid = "", rest = ""] = id.split(".");
  return [`${owner}.${uuid}`, rest];
}

function cipherOf(name: string) {
  const uuid = Uint8Array.from(name.slice(-36).replaceAll("-", "").match(/../g) ?? [], (hex) =>
    Number.parseInt(hex, 16),
  );
  return { name: CIPHER, iv: uuid.slice(-NONCE_BYTES), additionalData: new TextEncoder().encode(name) };
}
