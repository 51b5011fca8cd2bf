import type { Context } from "hono";
import { invalidField } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import type { IdempotencyKey } from "../../contract/storage.ts";
import { hash16 } from "../../domain/hash.ts";

const HEADER = "Idempotency-Key";
const PRINTABLE = /^[\x21-\x7e]+$/;

/** The request's idempotency key, with a hash of the request that it stands for; undefined without one. */
export async function idempotencyKeyOf(c: Context<AppEnv>): Promise<IdempotencyKey | undefined> {
  const key = c.req.header(HEADER);
  if (key === undefined) return undefined;
  if (!PRINTABLE.test(key) || key.length > limits.idempotencyKey)
    throw new Refusal(invalidField(`header.${HEADER}`, "must be 1 to 255 printable ASCII characters"));
  // Another condition makes it another request.
  const conditions = ["If-Match", "If-None-Match"].map((name) => c.req.header(name));
  const under = conditions.some((one) => one !== undefined) ? `\n${JSON.stringify(conditions)}` : "";
  // Without the origin: the same call may come again by another name of the deployment, or over a binding.
  const path = c.req.url.slice(c.req.url.indexOf("/", "https://".length));
  return { key, request: await hash16(`${c.req.method} ${path}\n${c.get("bodyText")}${under}`) };
}
