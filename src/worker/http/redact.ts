import type { MiddlewareHandler } from "hono";
import { concatBytes } from "../../domain/concat-bytes.ts";
import { fail } from "../../domain/errors.ts";
import { redactedJson } from "../../domain/redaction/redacted-json.ts";
import { d1Result } from "../../platform/d1/d1-result.ts";
import type { AppEnv } from "./context.ts";
import { Refusal, unwrap } from "./failure.ts";

const TOO_MANY = "The tenant's patterns of redaction match too often in this body.";
const encoder = new TextEncoder();

/** Takes what the tenant's patterns match out of the body of a call, before anything else sees it. */
export const redactBody: MiddlewareHandler<AppEnv> = async (c, next) => {
  const text = c.get("bodyText") ?? "";
  if (text !== "") {
    // A text is not stored while it is not known what to take out.
    const { redactions } = unwrap(await d1Result(() => c.get("services").extraction.current()));
    const fresh = redactedJson(text, redactions);
    if (fresh === null) throw new Refusal(fail("body_too_large", { message: TOO_MANY }));
    if (fresh !== text) {
      c.set("bodyText", fresh);
      c.set("body", concatBytes([encoder.encode(fresh)]).buffer);
    }
  }
  await next();
};
