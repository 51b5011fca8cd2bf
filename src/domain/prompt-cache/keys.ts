import type { Json } from "../schema/bounds.ts";
import { canonicalJson } from "./canonical-json.ts";
import { sha256Base64url, sha256Hex } from "../hash.ts";

/**
 * The owner of registry entries: the token's `sub`, and the app's name for a part of them (`Cairn-Namespace`).
 * `encodeURIComponent` leaves neither `:` nor `/`, so no two pairs give one text.
 */
export const namespaceOf = (user: string, app: string | undefined): string =>
  app === undefined ? encodeURIComponent(user) : `${encodeURIComponent(user)}:${encodeURIComponent(app)}`;

export const keyIn = (namespace: string, key: string): string => `${namespace}/${key}`;

/** SHA-256 (hex) over the canonical JSON of the list of regions. */
export const regionsHash = (regions: readonly Json[]): Promise<string> =>
  sha256Hex(canonicalJson([...regions]));

/** One hash (base64url) a region, each of everything up to its end: it changes when anything before it does. */
export async function prefixHashes(regions: readonly Json[]): Promise<string[]> {
  const hashes: string[] = [];
  // No JSON begins with a line end, so a hash and a region cannot be taken for another pair.
  for (const region of regions)
    hashes.push(await sha256Base64url(`${hashes.at(-1) ?? ""}\n${canonicalJson(region)}`));
  return hashes;
}

/** The key of the resource that a provider created for this content. At most 917 bytes: a key takes 1,024. */
export const resourceKey = (provider: string, model: string, hash: string): string =>
  `prompt-cache:${provider}:${encodeURIComponent(model)}:${hash}`;

/** The ledger of one model's prefixes, named like a key, so that it lives in one shard. */
export const ledgerKey = (namespace: string, model: string): string =>
  keyIn(namespace, `prompt-cache:prefixes:${encodeURIComponent(model)}`);

/** The `prompt_cache_key` by which OpenAI routes requests: 43 of the 64 characters that it takes. */
export const promptCacheKey = (namespace: string, model: string, hash: string): Promise<string> =>
  sha256Base64url(JSON.stringify([namespace, model, hash]));
