import type { Context } from "hono";
import type { Condition } from "../conditions.ts";
import { fail } from "../errors.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

const ETAGS = /^\s*"[^"]*"(\s*,\s*"[^"]*")*\s*$/;

/** The request's `If-Match` and `If-None-Match`: `*` or a list of quoted versions (weak ones never match). */
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
  return given.split(",").map((tag) => tag.trim().slice(1, -1));
}
