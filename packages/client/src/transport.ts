import type { BindingAnswer, BindingCall, Bytes } from "../../../src/domain/binding.ts";
import { CairnError } from "./error.ts";
import type { Binding, ReadOptions, Fetch, Transport } from "./options.ts";

/** With its media type. */
export type Body = { of: Blob | Bytes | string; type: string };

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

/** The read parts of an answer; a `Response` has them. */
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

/** Makes of a body what a call over a binding has. */
type Carry = (of: Body["of"], signal: AbortSignal) => NonNullable<BindingCall["body"]>;

/** A signal does not cross: when the attempt ends, nobody waits for the answer, and what it holds is let go of. */
export function overBinding(binding: Binding, carry: Carry = carried): Send {
  return async ({ method, path, headers: given, body, signal }) => {
    const headers = body === undefined ? given : { ...given, "Content-Type": body.type };
    const call = { method, path, headers, ...(body !== undefined && { body: carry(body.of, signal) }) };
    const answer = await binding.call(call).catch((error: unknown) => {
      throw lastingErrorOf(error, `${method} ${path.split("?", 1)[0]}`) ?? error;
    });
    if (signal.aborted && answer.body instanceof ReadableStream) await answer.body.cancel();
    return { ...answer, ok: answer.status >= 200 && answer.status < 300, headers: headersOf(answer) };
  };
}

/** Bytes of a body, or characters of a text, above which it goes as a stream. One call carries 32 MiB of anything else. */
const AT_ONCE = 1024 * 1024;

/** A body as it crosses. A stream breaks off with its attempt. */
function carried(of: Body["of"], signal: AbortSignal): NonNullable<BindingCall["body"]> {
  if (of instanceof Blob || lengthOf(of) > AT_ONCE)
    return new Blob([of]).stream().pipeThrough(new TransformStream(), { signal });
  // A view would cross with its whole buffer.
  return typeof of === "string" || of.byteLength === of.buffer.byteLength ? of : of.slice();
}

/** Bytes of a body; characters of a text, which are hardly fewer. */
export const lengthOf = (body: Body["of"] | undefined = ""): number =>
  typeof body === "string" ? body.length : body instanceof Blob ? body.size : body.byteLength;

/** Parts of workerd's messages that no other attempt mends, and what they mean. */
const LASTING = [
  [
    "does not implement the method",
    'the binding leads to no entrypoint of Cairn: set `entrypoint = "Memory"`',
  ],
  ["limited to 32MiB", "the call or its answer is larger than the 32 MiB that a binding carries"],
] as const;

/** The error of a call that would fail again; undefined for any other. */
function lastingErrorOf(cause: unknown, call: string): CairnError | undefined {
  const text = cause instanceof Error ? cause.message : "";
  const message = LASTING.find(([part]) => text.includes(part))?.[1];
  return message && new CairnError({ code: "no_envelope", message }, { status: 0, cause, call });
}

const headersOf = ({ headers }: BindingAnswer): Reply["headers"] => ({
  get: (name) => headers[name.toLowerCase()] ?? null,
});
