import { DeadlineExceeded, withDeadline } from "./deadline.ts";

export type Endpoint = {
  /** Its name in messages: `embeddings`. */
  service: string;
  url: URL;
  /** Sent as a bearer token only. No message and no log has it. */
  key?: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds. */
  wait: (ms: number) => Promise<void>;
  now: () => number;
};

/** Calls at most. */
const ATTEMPTS = 3;
/** The first wait in milliseconds without `Retry-After`. It doubles. */
const WAIT_MS = 250;

/** A failed call. The provider's own message is left out, as it may repeat a part of the key. */
export class EndpointFailure extends Error {
  readonly retryAfterMs: number | null | undefined;
  /** The status of a refusal. */
  readonly status: number | null;

  /** `retryAfterMs`: null if the endpoint gives none, undefined if a retry cannot help. */
  constructor(
    { service }: Pick<Endpoint, "service">,
    message: string,
    {
      retryAfterMs,
      status = null,
    }: { retryAfterMs?: number | null | undefined; status?: number | null } = {},
  ) {
    super(`the ${service} endpoint ${message}`);
    this.retryAfterMs = retryAfterMs;
    this.status = status;
  }
}

/** An answer that was cut off: its rest was not read. */
export class AnswerTooLong extends EndpointFailure {}

/**
 * Posts JSON and returns JSON, of `most` bytes. Makes three calls at most, on 429, 5xx and broken connections, after `Retry-After`.
 * Rejects at `until`, or at once if the next call would be later.
 */
export async function post(
  endpoint: Endpoint,
  body: unknown,
  { until, most }: { until: number; most: number },
): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const left = until - endpoint.now();
    if (left <= 0) throw new DeadlineExceeded(0);
    const cancelled = new AbortController();
    try {
      return await withDeadline(once(endpoint, body, { most, signal: cancelled.signal }), left);
    } catch (error) {
      if (!(error instanceof EndpointFailure) || error.retryAfterMs === undefined || attempt === ATTEMPTS)
        throw error;
      const wait = error.retryAfterMs ?? WAIT_MS * 2 ** (attempt - 1);
      if (endpoint.now() + wait >= until) throw error;
      await endpoint.wait(wait);
    } finally {
      cancelled.abort();
    }
  }
}

async function once(
  endpoint: Endpoint,
  body: unknown,
  { most, signal }: { most: number; signal: AbortSignal },
): Promise<unknown> {
  const { url, key, fetch } = endpoint;
  let response: Response;
  try {
    response = await fetch(url.href, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json",
        ...(key !== undefined && { Authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify(body),
      // A redirect would send the key to another address.
      redirect: "manual",
      signal,
    });
  } catch (error) {
    const reason = error instanceof Error ? error.name : "no reason given";
    throw new EndpointFailure(endpoint, `cannot be reached (${reason})`, { retryAfterMs: null });
  }
  const text = await textOf(response, most).catch(() => {
    throw new EndpointFailure(endpoint, "broke off its answer", { retryAfterMs: null });
  });
  if (text === null) throw new AnswerTooLong(endpoint, `answered more than ${most / 1024 / 1024} MiB`);
  const json = parsed(text);
  if (!response.ok) throw refusal(endpoint, response, json);
  if (json === undefined) throw new EndpointFailure(endpoint, "answered something else than JSON");
  return json;
}

/** The text of an answer; null if it is longer than `most` bytes, of which the rest is not read. */
export async function textOf({ body }: Response, most: number): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, bytes] = ["", 0];
  if (body !== null)
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      bytes += chunk.byteLength;
      if (bytes > most) return null;
      text += decoder.decode(chunk, { stream: true });
    }
  return text + decoder.decode();
}

function refusal(endpoint: Endpoint, { status, headers }: Response, json: unknown): EndpointFailure {
  const code = codeOf(json);
  const message = `answered ${status}${code === null ? "" : ` (${code})`}`;
  // OpenAI answers 429 for an empty account too, where a retry cannot help.
  const again = (status === 429 && code !== "insufficient_quota") || status >= 500;
  const retryAfterMs = again ? retryAfter(headers, endpoint.now()) : undefined;
  return new EndpointFailure(endpoint, message, { retryAfterMs, status });
}

/** Milliseconds; null without one. `Retry-After` is seconds or a date (RFC 9110, 10.2.3). */
export function retryAfter(headers: Headers, now: number): number | null {
  const value = headers.get("Retry-After")?.trim() ?? "";
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, date - now);
}

/** The short name that OpenAI and others give an error: `rate_limit_exceeded`. */
function codeOf(json: unknown): string | null {
  const error = json instanceof Object && "error" in json ? json.error : null;
  const code = error instanceof Object && "code" in error ? error.code : null;
  return typeof code === "string" && /^[a-z_]{1,40}$/.test(code) ? code : null;
}

/** The value of a JSON text; undefined if it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
