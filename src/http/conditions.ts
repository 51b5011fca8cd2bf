import type { z } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { Condition } from "../conditions.ts";
import { fail } from "../errors.ts";
import type { AppEnv } from "./context.ts";
import type { conditionHeaders } from "./describe.ts";
import { Refusal } from "./failure.ts";

type Validated = { out: { header: z.infer<typeof conditionHeaders> } };

const ETAGS = /^\s*(W\/)?"[^"]*"(\s*,\s*(W\/)?"[^"]*")*\s*$/;

/**
 * The request's `If-Match` and `If-None-Match`: `*` or a list of quoted versions. A weak one (`W/"v1"`, as a proxy that
 * compresses makes of ours) is as good for If-None-Match, and matches nothing for If-Match (RFC 9110, section 13.1).
 */
export function conditionOf(c: Context<AppEnv, string, Validated>): Condition {
  const given = c.req.valid("header");
  const ifMatch = versions(given["if-match"], "If-Match");
  const ifNoneMatch = versions(given["if-none-match"], "If-None-Match");
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
}

function versions(
  given: string | undefined,
  header: "If-Match" | "If-None-Match",
): "any" | string[] | undefined {
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
