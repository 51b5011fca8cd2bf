import type { Context } from "hono";
import type { Condition } from "../conditions.ts";
import { fail } from "../errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const ETAGS = /^\s*(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*\s*$/;

/**
 * The request's `If-Match` and `If-None-Match`: `*` or a list of quoted versions. A weak one (`W/"v1"`, as a proxy that
 * compresses makes of ours) is as good for If-None-Match, and matches nothing for If-Match (RFC 9110, section 13.1).
 */
export function conditionOf(c: Context<AppEnv>): Condition {
  const ifMatch = versions(c, "If-Match");
  const ifNoneMatch = versions(c, "If-None-Match");
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
}

function versions(c: Context<AppEnv>, header: string): "any" | string[] | undefined {
  const given = c.req.header(header);
  if (given === undefined) return undefined;
  if (given.trim() === "*") return "any";
  if (!ETAGS.test(given))
    throw new Refusal(
      fail("invalid_request", {
        details: [
          { path: `header.${header}`, message: 'is neither * nor a list of versions in quotes, as "v1"' },
        ],
      }),
    );
  const tags = given.split(",").map((tag) => tag.trim());
  const comparable = header === "If-Match" ? tags : tags.map((tag) => tag.replace(/^W\//, ""));
  return comparable.map((tag) => tag.replace(/^"|"$/g, ""));
}
