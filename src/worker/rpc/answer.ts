import type { Bindings } from "../../platform/bindings.ts";
import { BoundRequest } from "../../domain/schema/binding.ts";
import type { BoundCall } from "../http/context.ts";
import { isJson } from "../http/json-body.ts";
import { parseInput } from "../parse-input.ts";
import type { AnswerBound } from "./memory.ts";
import { answerOf, plainRequest } from "./plain.ts";
import { callerOf, tokenIdOf } from "./props.ts";

type App = {
  fetch: (request: Request, env: Bindings, ctx: ExecutionContext) => Response | Promise<Response>;
};

/** Where the paths of calls over a binding begin. */
const HERE = "https://cairn.internal";

/** Answers calls over bindings by the routes of the app, which finds in `bounds` who calls. */
export const answerBy =
  (app: App, bounds: WeakMap<Request, BoundCall>): AnswerBound =>
  async (call, { props, env, ctx }) => {
    const parsed = parseInput(BoundRequest, call, "call");
    // The app refuses it, as it refuses props: with the envelope and a request id.
    const { method, path, body, headers: given } = parsed.ok ? parsed.value : NOTHING;
    const headers = ownHeaders(given);
    const { href: url, pathname } = new URL(path, HERE);
    // What is no JSON is read as it comes; and MCP's SDK reads the request itself.
    const text =
      typeof body === "string" && isJson(headers["content-type"]) && pathname.startsWith("/v1/")
        ? body
        : undefined;
    const request =
      text === body
        ? plainRequest(url, { method, headers })
        : new Request(url, { method, headers, ...(body !== undefined && { body }) });
    const caller = callerOf(props);
    bounds.set(request, {
      caller: caller.ok && !parsed.ok ? parsed : caller,
      tokenId: caller.ok ? (caller.value.tokenId ?? null) : tokenIdOf(props),
      text,
    });
    const answer = answerOf(await app.fetch(request, env, ctx));
    // A sender waits for whoever reads its stream, and a refused call reads none.
    if (request.body?.locked === false) await request.body.cancel();
    return answer;
  };

/** Headers that the way of a request sets: a server or Cloudflare, and no caller. `cf-*` and `x-forwarded-*` are others. */
const OF_TRANSPORT = new Set([
  "authorization",
  "connection",
  "content-length",
  "cookie",
  "forwarded",
  "host",
  "transfer-encoding",
  "true-client-ip",
  "x-real-ip",
]);

/** The headers that the call itself means, by their names in lower case. Nothing vouches for those of the transport. */
const ownHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]) => [name.toLowerCase(), value] as const)
      .filter(([name]) => !OF_TRANSPORT.has(name) && !/^(cf|x-forwarded)-/.test(name)),
  );

const NOTHING = { method: "GET", path: "/", headers: {}, body: undefined } as const;
