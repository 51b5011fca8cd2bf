import type { Context } from "hono";
import { fail } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import type { IdempotencyKey } from "../../../durable-objects/storage/contract.ts";
import { hash16 } from "../../domain/hash.ts";

const HEADER = "Idempotency-Key";
const PRINTABLE = /^[\x21-\x7e]+$/;

/** What makes this write happen once however often it is sent, if its caller gave it a key. */
export async function onceOf(c: Context<AppEnv>): Promise<IdempotencyKey | undefined> {
  const key = c.req.header(HEADER);
  if (key === undefined) return undefined;
  if (!PRINTABLE.test(key) || key.length > limits.idempotencyKey)
    throw new Refusal(
      fail("invalid_request", {
        details: [{ path: `header.${HEADER}`, message: "is not 1 to 255 printable ASCII characters" }],
      }),
    );
  // The same write under another condition is another request.
  const conditions = ["If-Match", "If-None-Match"].map((name) => c.req.header(name));
  const under = conditions.some((one) => one !== undefined) ? `\n${JSON.stringify(conditions)}` : "";
  return { key, request: await hash16(`${c.req.method} ${c.req.url}\n${c.get("bodyText")}${under}`) };
}
