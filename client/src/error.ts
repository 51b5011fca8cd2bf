import type { ErrorBody, ErrorCode } from "./shapes.ts";

/** What Cairn says of a failure. */
export type Failure = ErrorBody["error"];

/**
 * Why a call did not do what it was to do: a code of Cairn's; `network`, of no answer at all (the `cause` is what
 * `fetch` rejected with); or `no_envelope`, of an answer that is not Cairn's.
 */
export type CairnErrorCode = ErrorCode | "network" | "no_envelope";

type About = {
  status: number;
  retryAfter?: number | undefined;
  cause?: unknown;
  call?: string | undefined;
};

/** A failure that a call rejects with. What an `AbortSignal` ends rejects with the signal's reason instead. */
export class CairnError extends Error {
  override readonly name = "CairnError";
  readonly code: CairnErrorCode;
  /** The answer's; 0 of no answer at all. */
  readonly status: number;
  /** What is wrong, field by field: `{ path: "body.messages[0].role", message: "is required" }`. */
  readonly details: NonNullable<Failure["details"]>;
  /**
   * Which call it was: `GET /v1/users/alice/kv/k`; of no answer with the server's origin. Not in the message, which tools
   * show to models: it names the user.
   */
  readonly call: string | undefined;
  /** Finds the request in the Worker's logs. */
  readonly requestId: string | undefined;
  /** How long to wait before the next try, in seconds, where the answer says so. */
  readonly retryAfter: number | undefined;

  constructor(
    {
      code,
      message,
      details = [],
      requestId,
    }: Omit<Failure, "code" | "requestId"> & {
      code: CairnErrorCode;
      requestId?: string;
    },
    { status, retryAfter, cause, call }: About,
  ) {
    super(`${code}: ${message}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.status = status;
    this.details = details;
    this.call = call;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

/** Whether a failure is Cairn's. By its name, not by its class: two copies of the client may be in one program. */
export const isCairnError = (error: unknown): error is CairnError =>
  error instanceof Error && error.name === "CairnError";

/** Whether it is one of these. */
export const hasCode = (error: unknown, ...codes: readonly CairnErrorCode[]): error is CairnError =>
  isCairnError(error) && codes.includes(error.code);

/** Of a request that got no answer, or not all of it. */
export const networkError = (cause: unknown, call: string): CairnError =>
  new CairnError(
    { code: "network", message: cause instanceof Error ? cause.message : String(cause) },
    { status: 0, cause, call },
  );

/** What an answer that is no success says; `text` is its body, `now` milliseconds since the epoch. */
export function errorOf(
  response: Response,
  { text, call, now }: { text: string; call: string; now: number },
): CairnError {
  const failure = failureIn(text);
  const retryAfter = secondsIn(response.headers.get("Retry-After"), now);
  const about = { status: response.status, retryAfter, call };
  if (failure !== undefined) return new CairnError(failure, about);
  return new CairnError(
    { code: "no_envelope", message: `HTTP ${response.status}, and the answer is not Cairn's` },
    about,
  );
}

function failureIn(body: string): Failure | undefined {
  try {
    // Whose answer it is shows in its shape; what Cairn answers has this one (src/domain/schema/error.ts).
    const { error } = JSON.parse(body) as Partial<ErrorBody>;
    return typeof error?.code === "string" ? error : undefined;
  } catch {
    return undefined;
  }
}

/** A `Retry-After`, which is a number of seconds or a date (RFC 9110, section 10.2.3), in seconds. */
function secondsIn(header: string | null, now: number): number | undefined {
  if (header === null) return undefined;
  if (/^\d+$/.test(header)) return Number(header);
  const seconds = (Date.parse(header) - now) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
