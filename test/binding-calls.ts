import { exports } from "cloudflare:workers";
import { type Binding, cairn, type Cairn } from "#client/index.ts";
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

/** Who calls: by the claims of a token, or by the props of a binding. */
export type Who = Omit<TokenRequest, "ttlMs">;

export const propsOf = ({ user, scope = scopes, ...more }: Who): Record<string, unknown> => ({
  users: [user],
  scopes: scope,
  ...more,
});

/** The two ways to a route: the tests of access go both. */
export const ways: readonly {
  way: string;
  ask: (path: string, request: Request, who: Who) => Promise<Answer>;
}[] = [
  {
    way: "over HTTP",
    ask: async (path, request, who) => call(path, { ...request, token: await tokenWith(who) }),
  },
  { way: "over a binding", ask: (path, request, who) => boundCall(path, request, propsOf(who)) },
];
