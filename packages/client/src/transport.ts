import type { BindingAnswer } from "../../../src/domain/binding.ts";
import { CairnError } from "./error.ts";
import type { Binding, ReadOptions, Fetch, Transport } from "./options.ts";

/** With its media type. */
export type Body = { of: Blob | Uint8Array<ArrayBuffer> | string; type: string };

/** One attempt of a call. */
export type Outgoing = {
  method: string;
  /** Path and query, percent-encoded. */
  path: string;
  headers: Record<string, string>;
  body: Body | undefined;
  /** Undefined over a binding, which says itself who calls. */
  token: string | undefined;
  signal: AbortSignal;
};

/** What is read of an answer; a `Response` is one. */
export type Reply = {
  readonly ok: boolean;
  readonly status: number;
  readonly headers: { get: (name: string) => string | null };
  readonly body: ReadableStream<Uint8Array> | Uint8Array | string | null;
};

/** Sends one attempt. */
export type Send = (call: Outgoing) => Promise<Reply>;

/** Where all paths begin: `https://example.com` and `/memory`. */
export type Base = { origin: string; pathname: string };

/** Without a url no name is looked up: any will do. */
export function baseOf(url = "https://cairn.internal"): Base {
  const { origin, pathname } = new URL(url);
  return { origin, pathname: pathname.replace(/\/+$/, "") };
}

/** Sends calls where the options say. */
export const senderOf = ({ binding, fetch: transport }: ReadOptions, base: Base): Send =>
  binding === undefined ? overHttp(base, fetchOf(transport)) : overBinding(binding);

function overHttp({ origin, pathname }: Base, send: Fetch): Send {
  const base = origin + pathname;
  return async ({ method, path, headers, body, token, signal }) => {
    const all = new Headers({ Authorization: `Bearer ${token}`, ...headers });
    if (body !== undefined) all.set("Content-Type", body.type);
    const init = { method, headers: all, signal, ...(body !== undefined && { body: body.of }) };
    return send(new Request(`${base}${path}`, init));
  };
}

/**
 * A binding's `fetch` wants its binding, and the global one wants no other `this` than its own. What has a `fetch` comes
 * first: some bindings are functions too.
 */
function fetchOf(transport: Transport | undefined): Fetch {
  if (transport === undefined) return (request) => fetch(request);
  if ("fetch" in transport) return (request) => transport.fetch(request);
  return (request) => transport(request);
}

/** A signal does not cross: when the attempt ends, nobody waits for the answer, and what it holds is let go of. */
function overBinding(binding: Binding): Send {
  return async ({ method, path, headers: given, body, signal }) => {
    const headers = body === undefined ? given : { ...given, "Content-Type": body.type };
    const of = body?.of instanceof Blob ? body.of.stream() : body?.of;
    const call = { method, path, headers, ...(of !== undefined && { body: of }) };
    const answer = await binding.call(call).catch((error: unknown) => {
      throw isOfAnotherEntrypoint(error) ? notMemory(error, `${method} ${path.split("?", 1)[0]}`) : error;
    });
    if (signal.aborted && answer.body instanceof ReadableStream) await answer.body.cancel();
    return { ...answer, ok: answer.status >= 200 && answer.status < 300, headers: headersOf(answer) };
  };
}

/** What workerd says of a method that an entrypoint lacks. */
const isOfAnotherEntrypoint = (error: unknown): boolean =>
  error instanceof Error && error.message.includes("does not implement the method");

const notMemory = (cause: unknown, call: string): CairnError =>
  new CairnError(
    {
      code: "no_envelope",
      message: 'the binding leads to no entrypoint of Cairn: set `entrypoint = "Memory"`',
    },
    { status: 0, cause, call },
  );

const headersOf = ({ headers }: BindingAnswer): Reply["headers"] => ({
  get: (name) => headers[name.toLowerCase()] ?? null,
});
