import type { z } from "@hono/zod-openapi";
import type { ErrorCode } from "../errors.ts";
import type { ErrorBody } from "../schema/error.ts";

export type CairnOptions = {
  /** Where Cairn runs, as in `https://example.com/memory`; any URL does with a service binding's fetch. */
  url: string;
  token: string;
  /** The fetch to call with, as `(request) => env.CAIRN.fetch(request)`; the global one unless set. */
  fetch?: (request: Request) => Promise<Response>;
  /** Keeps this app's registry entries apart from those of others with the same token: to 256 bytes of ASCII. */
  namespace?: string;
};

/**
 * A failure that Cairn answered with: its code, its message, and where in the request it lies. Of no answer at all, the
 * code is `network`, the status 0, and the cause what `fetch` rejected with; of one that is not Cairn's, `no_envelope`.
 */
export class CairnError extends Error {
  override readonly name = "CairnError";
  readonly code: ErrorCode | "no_envelope" | "network";
  readonly status: number;
  readonly details: readonly { path: string; message: string }[];
  readonly requestId: string | undefined;

  constructor(status: number, failure: z.infer<typeof ErrorBody>["error"] | undefined) {
    super(failure === undefined ? `HTTP ${status}, not from Cairn` : `${failure.code}: ${failure.message}`);
    this.code = failure?.code ?? "no_envelope";
    this.status = status;
    this.details = failure?.details ?? [];
    this.requestId = failure?.requestId;
  }
}

class NetworkError extends CairnError {
  override readonly code = "network";

  constructor(cause: unknown) {
    super(0, undefined);
    this.message = `no answer: ${cause instanceof Error ? cause.message : String(cause)}`;
    this.cause = cause;
  }
}

type Query = Record<string, string | number | boolean | readonly string[] | undefined>;
export type Call = {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  path: readonly string[];
  query?: Query;
  json?: unknown;
  headers?: Record<string, string | undefined>;
};

/** Sends calls to one Cairn. A path is given in segments, which are percent-encoded here. */
export class CairnHttp {
  readonly #options: CairnOptions;

  constructor(options: CairnOptions) {
    this.#options = options;
  }

  /** The answer's JSON; of an answer without a body, undefined. */
  async send<T>(call: Call): Promise<T> {
    const response = await this.#fetch(call);
    if (!response.ok) throw await errorOf(response);
    // The shape is the server's promise: both sides take it from the same schemas.
    return (response.status === 204 ? undefined : await response.json()) as T;
  }

  /** The same, with null for what is not there. */
  async find<T>(call: Call): Promise<T | null> {
    try {
      return await this.send<T>(call);
    } catch (error) {
      if (error instanceof CairnError && error.code === "not_found") return null;
      throw error;
    }
  }

  async #fetch({ method, path, query = {}, json, headers: more = {} }: Call): Promise<Response> {
    const url = new URL(this.#options.url);
    url.search = "";
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/v1/${path.map(encodeURIComponent).join("/")}`;
    for (const [name, given] of Object.entries(query))
      for (const value of [given].flat())
        if (value !== undefined) url.searchParams.append(name, String(value));
    const headers = new Headers({ Authorization: `Bearer ${this.#options.token}` });
    if (this.#options.namespace !== undefined) headers.set("Cairn-Namespace", this.#options.namespace);
    if (json !== undefined) headers.set("Content-Type", "application/json");
    for (const [name, value] of Object.entries(more)) if (value !== undefined) headers.set(name, value);
    const send = this.#options.fetch ?? ((request: Request) => fetch(request));
    const request = new Request(url, {
      method,
      headers,
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    try {
      return await send(request);
    } catch (cause) {
      throw new NetworkError(cause);
    }
  }
}

async function errorOf(response: Response): Promise<CairnError> {
  const body = (await response.json().catch(() => null)) as Partial<z.infer<typeof ErrorBody>> | null;
  return new CairnError(response.status, body?.error);
}
