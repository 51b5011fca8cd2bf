import type { Context } from "hono";
import type { BindingAnswer } from "../../domain/binding.ts";
import type { AppEnv } from "../http/context.ts";

// A `Request`, a `Response` and their headers cost a call over a binding more than the way between the two Workers does:
// they are objects of the runtime, outside of JavaScript (`npm run bench -- --binding`).

/** The parts of a request without a stream that routes read. */
export function plainRequest(
  url: string,
  { method, headers: given }: { method: string; headers: Readonly<Record<string, string>> },
): Request {
  const headers = new Map(Object.entries(given));
  const request = {
    __proto__: OTHER_PARTS,
    method,
    url,
    body: null,
    headers: {
      __proto__: OTHER_PARTS,
      get: (name: string) => headers.get(name.toLowerCase()) ?? null,
      has: (name: string) => headers.has(name.toLowerCase()),
    },
  };
  // Hono and the routes read no other parts; the access tests call each route so.
  return request as unknown as Request;
}

/** Refuses the other parts of a request: a route that reads one would take it as absent. */
const OTHER_PARTS: unknown = new Proxy(
  {},
  {
    get(_, name) {
      throw new Error(
        `a call over a service binding has no \`${String(name)}\` of a Request (src/worker/rpc/)`,
      );
    },
  },
);

/** An answer of which no `Response` is made. */
class PlainResponse {
  readonly answer: BindingAnswer;

  constructor(answer: BindingAnswer) {
    this.answer = answer;
  }
}

/** Has `c.json`, `c.body` and `c.header` of a call answer with data that cross a binding as they are. */
export function answerPlainly(c: Context<AppEnv>): void {
  const headers: Record<string, string> = {};
  const header = (name: string, value: string): void => {
    headers[name.toLowerCase()] = value;
  };
  const body = (of: BindingAnswer["body"], status: number = 200, more: Record<string, string> = {}) => {
    for (const [name, value] of Object.entries(more)) header(name, value);
    return new PlainResponse({ status, headers, body: of });
  };
  const json = (value: unknown, status?: number, more?: Record<string, string>) =>
    body(JSON.stringify(value), status, more);
  Object.assign(c, { header, body, json });
}

/** The answer of the app: a `Response` where a route makes one itself. */
export function answerOf(response: object): BindingAnswer {
  if (response instanceof PlainResponse) return response.answer;
  // Whatever else a handler returns is one.
  const { status, headers, body } = response as Response;
  return { status, headers: Object.fromEntries(headers), body };
}
