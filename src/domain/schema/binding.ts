import { z } from "@hono/zod-openapi";
import { scopes } from "../token.ts";
import { callerFields, user } from "./caller.ts";
import { namespace } from "./prompt-cache.ts";

export const bindingName = z.string().regex(/^[\w.-]{1,64}$/, "is not 1 to 64 of A–Z, a–z, 0–9 and _ . -");

/** The `props` of a service binding to `Memory`: who calls, as the claims of a token say it. */
export const BindingProps = z.strictObject({
  /** `["*"]` for all users, or a list of one user. */
  users: z.tuple([user], 'is not a list of one user, as in ["alice"], or of ["*"] for all users'),
  scopes: z.array(z.enum(scopes)).min(1),
  ...callerFields,
  /** The only part of the registry that the caller reaches. */
  namespace: namespace.optional(),
  /** The caller in the audit log, and as the writer of memories. */
  name: bindingName.optional(),
});

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

/** ASCII without spaces, `#` and a backslash. A URL of another path would have another host, or lose a part. */
const PATH = /^\/(?!\/)[!-"$-[\]-~]*$/;
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t -~\u0080-\u00ff]*$/;

/** A call of `Memory`: the binding's form of a request. Each such call makes a `Request`. */
export const BoundRequest = z
  .strictObject({
    method: z.enum(methods),
    path: z.string().regex(PATH, "is not a percent-encoded path that begins with one / and has no #"),
    headers: z
      .record(z.string(), z.string().regex(HEADER_VALUE, "has a character that no header carries"))
      .refine(
        (headers) => Object.keys(headers).every((name) => HEADER_NAME.test(name)),
        "has a name that is not one of a header",
      )
      .default({}),
    body: z
      .custom<string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>>(
        (body) => typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream,
        "is no text, no bytes and no stream",
      )
      .optional(),
  })
  .refine(({ method, body }) => method !== "GET" || body === undefined, {
    path: ["body"],
    message: "does not go with GET",
  });
