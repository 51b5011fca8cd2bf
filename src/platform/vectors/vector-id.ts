import { type UserHash } from "../../domain/ids.ts";
import { BoundedCache } from "../../domain/bounded-cache.ts";
import { hash16 } from "../../domain/hash.ts";

const VECTOR_ID = /^([A-Za-z0-9_-]{22})\.(0|[1-9]\d{0,15})\.([A-Za-z0-9_-]{6})$/;

/** Names a model in ids: 36 bits of its hash, where a deployment has two or three models in its life. */
export type ModelTag = string;

const tags = new BoundedCache<ModelTag>(16);

/** The first 6 characters of base64url of SHA-256 of `cairn:model:<model>`. */
export async function modelTag(model: string): Promise<ModelTag> {
  const known = tags.get(model);
  if (known !== undefined) return known;
  const tag = (await hash16(`cairn:model:${model}`)).slice(0, 6);
  tags.set(model, tag);
  return tag;
}

/**
 * The id of document `n`'s vector in one model: at most 46 of the 64 bytes that Vectorize takes. A number is never
 * given to two documents, so an id stands for one content only: to write it twice is the same as once.
 */
export const vectorId = (user: UserHash, n: number, model: ModelTag): string => `${user}.${n}.${model}`;

/** The parts of an id that `vectorId` made, or null if it did not. */
export function parseVectorId(id: string): { user: UserHash; n: number; model: ModelTag } | null {
  const [, user, digits, model] = VECTOR_ID.exec(id) ?? [];
  if (user === undefined || digits === undefined || model === undefined) return null;
  const n = Number(digits);
  return Number.isSafeInteger(n) ? { user, n, model } : null;
}
