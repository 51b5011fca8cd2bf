import { exports } from "cloudflare:workers";
import { type Binding, cairn, type Cairn } from "#client/index.ts";
import type { Memory, Remote } from "#client/entrypoint.ts";
import { methods } from "../packages/client/test/methods.ts";
import type { BindingAnswer } from "../src/domain/binding.ts";
import { scopes, type TokenRequest } from "../src/domain/token.ts";
import { type Answer, call, tokenWith } from "./call.ts";

/** The binding to `Memory` of a Worker with these props. */
export const bindingWith = (props: Record<string, unknown>): Binding => exports.Memory({ props });

/** A client over it. Its calls are not retried. */
export const clientWith = (props: Record<string, unknown>): Cairn =>
  cairn({ binding: bindingWith(props), retry: false });

type Request = { method?: string; json?: unknown; headers?: Record<string, string> };

/** One call over the binding, as `call` makes one over HTTP. */
export async function boundCall(
  path: string,
  { method, json, headers }: Request,
  props: Record<string, unknown>,
): Promise<Answer> {
  const given = {
    method: method ?? (json === undefined ? "GET" : "POST"),
    path,
    headers: { ...(json !== undefined && { "Content-Type": "application/json" }), ...headers },
    ...(json !== undefined && { body: JSON.stringify(json) }),
  };
  return answerOf(await bindingWith(props).call(given));
}

/** What a binding answered, as what HTTP answers. */
export async function answerOf(answer: BindingAnswer): Promise<Answer> {
  const text = await new Response(answer.body).text();
  const { status } = answer;
  return { status, headers: new Headers(answer.headers), text, body: text === "" ? undefined : parsed(text) };
}

/** The lines of an export are no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

type Calls = Record<string, (...args: unknown[]) => unknown>;

/**
 * The methods of the binding, each of whose groups is awaited here
 * before its method is called; packages/adapters/test/binding.test.ts calls as a deployed Worker does.
 */
export function methodsWith(props: Record<string, unknown>): Memory {
  // The names are those that a test asks for.
  const memory: unknown = bindingWith(props);
  const calls = memory as Calls;
  const groups = memory as Record<string, Promise<Calls & Disposable>>;
  const groupOf = (group: string) =>
    new Proxy(
      {},
      {
        get:
          (_, method: string) =>
          async (...args: unknown[]) => {
            using of = await groups[group];
            return of?.[method]?.(...args);
          },
      },
    );
  return new Proxy(
    {},
    {
      get: (_, name: string) =>
        ["recall", "context", "ingest"].includes(name)
          ? (...args: unknown[]) => calls[name]?.(...args)
          : groupOf(name),
    },
  ) as Memory;
}

/** What a method answered, as what HTTP answers. Null is what is not there. */
export async function answerOfMethod(given: unknown): Promise<Answer> {
  // Every method answers so.
  const answer = given as Remote<unknown>;
  const headers = new Headers();
  if (!answer.ok) {
    const body = { error: answer.error };
    return { status: answer.error.status, headers, body, text: JSON.stringify(body) };
  }
  const { value } = answer;
  if (value === undefined) return { status: 204, headers, body: undefined, text: "" };
  if (value === null) return { status: 404, headers, body: { error: { code: "not_found" } }, text: "" };
  const text = value instanceof ReadableStream ? await new Response(value).text() : JSON.stringify(value);
  return { status: 200, headers, body: parsed(text), text };
}

/** The method for a call over HTTP, with the parameters of its path. */
async function callByMethod(path: string, { method, json }: Request, props: Record<string, unknown>) {
  const called = method ?? (json === undefined ? "GET" : "POST");
  const segments = path.split("/");
  for (const [route, run] of Object.entries(methods)) {
    const [verb, pattern = ""] = route.split(" ");
    const names = pattern.split("/");
    const fits =
      names.length === segments.length &&
      names.every((name, i) => name.startsWith("{") || name === segments[i]);
    if (verb !== called || !fits) continue;
    const at = names.flatMap((name, i) =>
      name.startsWith("{") ? [[name.slice(1, -1), decodeURIComponent(segments[i] ?? "")]] : [],
    );
    return answerOfMethod(await run(methodsWith(props) as unknown as Cairn, Object.fromEntries(at)));
  }
  throw new Error(`no method calls ${called} ${path}`);
}

/** Who calls: by the claims of a token, or by the props of a binding. */
export type Who = Omit<TokenRequest, "ttlMs">;

export const propsOf = ({ user, scope = scopes, ...more }: Who): Record<string, unknown> => ({
  users: [user],
  scopes: scope,
  ...more,
});

type Way = { way: string; ask: (path: string, request: Request, who: Who) => Promise<Answer> };

/** The two ways that take a path. */
export const pathWays: readonly Way[] = [
  {
    way: "over HTTP",
    ask: async (path, request, who) => call(path, { ...request, token: await tokenWith(who) }),
  },
  { way: "over a binding", ask: (path, request, who) => boundCall(path, request, propsOf(who)) },
];

/** All ways to a route that the API describes: the tests of access go each. */
export const ways: readonly Way[] = [
  ...pathWays,
  { way: "by a method", ask: (path, request, who) => callByMethod(path, request, propsOf(who)) },
];
