import { DeadlineExceeded, withDeadline } from "../deadline.ts";

export type Endpoint = {
  url: URL;
  /** Sent as a bearer token, and nowhere else: it is in no message and in no log. */
  key?: string;
  fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** Milliseconds. */
  wait: (ms: number) => Promise<void>;
  now: () => number;
};

/** Calls in all, of which the first may be the only one. */
const ATTEMPTS = 3;
/** The first wait where the answer does not say how long, in milliseconds; it doubles. */
const WAIT_MS = 250;

/** A failed call: what of it may be told. A provider's own message is not, for it may repeat a part of the key. */
class Failure extends Error {
  readonly retryAfterMs: number | null | undefined;

  /** `retryAfterMs` is null where the endpoint does not say, and undefined where to ask again is of no use. */
  constructor(message: string, retryAfterMs?: number | null) {
    super(`the embeddings endpoint ${message}`);
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * Posts JSON and answers JSON. Asks up to three times on 429, on 5xx and when nothing comes through, as late as
 * `Retry-After` says; gives up at once where that would be after `until`, and rejects when that time has come.
 */
export async function post(endpoint: Endpoint, body: unknown, until: number): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const left = until - endpoint.now();
    if (left <= 0) throw new DeadlineExceeded(0);
    const cancelled = new AbortController();
    try {
      return await withDeadline(once(endpoint, body, cancelled.signal), left);
    } catch (error) {
      if (!(error instanceof Failure) || error.retryAfterMs === undefined || attempt === ATTEMPTS)
        throw error;
      const wait = error.retryAfterMs ?? WAIT_MS * 2 ** (attempt - 1);
      if (endpoint.now() + wait >= until) throw error;
      await endpoint.wait(wait);
    } finally {
      cancelled.abort();
    }
  }
}

async function once(endpoint: Endpoint, body: unknown, signal: AbortSignal): Promise<unknown> {
  const { url, key, fetch, now } = endpoint;
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
      // The key is for this address, not for one that it sends us to.
      redirect: "manual",
      signal,
    });
  } catch (error) {
    throw new Failure(`cannot be reached (${error instanceof Error ? error.name : "no reason given"})`, null);
  }
  const text = await response.text().catch(() => {
    throw new Failure("broke off its answer", null);
  });
  const json = parsed(text);
  if (!response.ok) throw refusal(response, json, now());
  if (json === undefined) throw new Failure("answered something else than JSON");
  return json;
}

function refusal({ status, headers }: Response, json: unknown, now: number): Failure {
  const code = codeOf(json);
  const message = `answered ${status}${code === null ? "" : ` (${code})`}`;
  // No money left is a 429 of OpenAI's too, and waiting brings none.
  const again = (status === 429 && code !== "insufficient_quota") || status >= 500;
  return again ? new Failure(message, retryAfter(headers, now)) : new Failure(message);
}

/** `Retry-After` is seconds or a date (RFC 9110, 10.2.3). */
function retryAfter(headers: Headers, now: number): number | null {
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

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
