import { createMiddleware } from "hono/factory";
import type { Context } from "hono";
import { fail } from "../errors.ts";
import { limits } from "../limits.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const JSON_TYPE = /^application\/([a-z0-9.-]+\+)?json\s*(;|$)/i;

/**
 * Reads the body of a write, which must be valid UTF-8: `request.text()` would turn a broken byte into U+FFFD and
 * store that. Its text is kept for those who need it as it was written; Hono keeps its bytes for the validators.
 */
export const jsonBody = createMiddleware<AppEnv>(async function jsonBody(c, next) {
  if (["POST", "PUT", "PATCH"].includes(c.req.method)) {
    const bytes = await c.req.arrayBuffer();
    if (bytes.byteLength > 0 && !JSON_TYPE.test(c.req.header("Content-Type") ?? ""))
      throw new Refusal(fail("unsupported_media_type"));
    c.set("bodyText", textOf(bytes));
  }
  await next();
});

function textOf(bytes: ArrayBuffer): string {
  try {
    // A byte order mark stays, and is then no JSON: it must not be stored in front of a value.
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
}

/** The body as the JSON value that it is, in the bytes it came in: for values that are kept as they are. */
export async function jsonValue(c: Context<AppEnv>): Promise<Uint8Array> {
  try {
    JSON.parse(c.get("bodyText"));
  } catch {
    throw new Refusal(fail("invalid_json"));
  }
  const value = new Uint8Array(await c.req.arrayBuffer());
  if (value.byteLength > limits.value) throw new Refusal(fail("value_too_large"));
  return value;
}
