import type { Bindings } from "../../platform/bindings.ts";
import { BoundRequest } from "../../domain/schema/binding.ts";
import type { BoundCall } from "../http/context.ts";
import { parseInput } from "../parse-input.ts";
import type { AnswerBound } from "./memory.ts";
import { answerOf, plainRequest } from "./plain.ts";
import { callerOf } from "./props.ts";

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
    const { method, path, headers, body } = parsed.ok ? parsed.value : NOTHING;
    const url = new URL(path, HERE).href;
    // What is no JSON is read as it comes; and MCP's SDK reads the request itself.
    const text = typeof body === "string" && isJson(headers) && path.startsWith("/v1/") ? body : undefined;
    const request =
      text === body
        ? plainRequest(url, { method, headers })
        : new Request(url, { method, headers, ...(body !== undefined && { body }) });
    bounds.set(request, { caller: parsed.ok ? callerOf(props) : parsed, text });
    return answerOf(await app.fetch(request, env, ctx));
  };

const isJson = (headers: Readonly<Record<string, string>>): boolean =>
  Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === "content-type" && value.startsWith("application/json"),
  );

const NOTHING = { method: "GET", path: "/", headers: {}, body: undefined } as const;
