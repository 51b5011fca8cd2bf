import type { ErrorBody, ErrorCode } from "./shapes.ts";

/** The error of an answer of Cairn. */
type Failure = ErrorBody["error"];

/**
 * A code of Cairn, `network`, `timeout` or `no_envelope`. `network`: no complete answer came; `cause` is the error of
 * `fetch`. `timeout`: none came within a limit. `no_envelope`: the answer is not one of Cairn, for example a proxy's page.
 */
export type CairnErrorCode = ErrorCode | "network" | "timeout" | "no_envelope";

type About = {
  status: number;
  retryAfter?: number | undefined;
  cause?: unknown;
  call?: string | undefined;
};

/** The error that calls reject with. An aborted call rejects with the signal's reason instead. */
export class CairnError extends Error {
  // The class has it too: a minified one would be printed under another name.
  static override readonly name = "CairnError";
  override readonly name = "CairnError";
  readonly code: CairnErrorCode;
  /** The HTTP status of the answer; 0 if there was none. */
  readonly status: number;
  /** One entry per invalid field: `{ path: "body.messages[0].role", message: "is required" }`. */
  readonly details: NonNullable<Failure["details"]>;
  /**
   * Method and path, such as `GET /v1/users/alice/kv/k`; with the origin if there was no answer. It names the user, so
   * the message, which tools show to models, leaves it out.
   */
  readonly call: string | undefined;
  /** The id of the request in the Worker's logs. */
  readonly requestId: string | undefined;
  /** Seconds to wait before the next attempt, from the answer's `Retry-After`. */
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
    super(
      `${code}: ${message}${fieldsIn(details.filter((one) => !message.includes(one.message)))}`,
      cause === undefined ? undefined : { cause },
    );
    this.code = code;
    this.status = status;
    this.details = details;
    this.call = call;
    this.requestId = requestId;
    this.retryAfter = retryAfter;
  }
}

const FIELDS = 3;
const LONGEST_FIELD = 200;

/** The first invalid fields, each cut to a bound: a name in it may come from a body. A call that was not sent names its own. */
function fieldsIn(details: CairnError["details"]): string {
  if (details.length === 0) return "";
  const shown = details
    .slice(0, FIELDS)
    .map(({ path, message }) => `${path} ${message}`.slice(0, LONGEST_FIELD).toWellFormed());
  const more = details.length > FIELDS ? `; and ${details.length - FIELDS} more` : "";
  return ` (${shown.join("; ")}${more})`;
}

/** True if an error is a `CairnError`. Compares the name, since a program may hold two copies of the class. */
export const isCairnError = (error: unknown): error is CairnError =>
  error instanceof Error && error.name === "CairnError";

/** True if an error is a `CairnError` with one of these codes. */
export const hasCode = (error: unknown, ...codes: readonly CairnErrorCode[]): error is CairnError =>
  isCairnError(error) && codes.includes(error.code);

/** The error of a request without a complete answer. */
export function networkError(cause: unknown, call: string): CairnError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = systemCodeOf(cause);
  return new CairnError(
    { code: "network", message: code === undefined ? reason : `${reason} (${code})` },
    { status: 0, cause, call },
  );
}

/** The error of work that a limit ended. */
export const timeoutError = (ms: number, call?: string): CairnError =>
  new CairnError(
    { code: "timeout", message: `no complete answer came within ${ms} ms` },
    { status: 0, call },
  );

/** The code of the innermost cause, such as `ECONNREFUSED`: Node's `fetch` only says that it failed. */
function systemCodeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { cause, code } = error as { cause?: unknown; code?: unknown };
  return systemCodeOf(cause) ?? (typeof code === "string" ? code : undefined);
}

/** The read parts of an unsuccessful answer. */
type Refused = { readonly status: number; readonly headers: { get: (name: string) => string | null } };

/** The error of an unsuccessful answer. `text` is its body, `now` is in milliseconds since the epoch. */
export function errorOf(
  reply: Refused,
  { text, call, now }: { text: string; call: string; now: number },
): CairnError {
  const failure = failureIn(text);
  const retryAfter = secondsIn(reply.headers.get("Retry-After"), now);
  const about = { status: reply.status, retryAfter, call };
  if (failure !== undefined) return new CairnError(failure, about);
  return new CairnError(
    { code: "no_envelope", message: `HTTP ${reply.status}: the answer does not come from Cairn` },
    about,
  );
}

function failureIn(body: string): Failure | undefined {
  try {
    // Only Cairn answers with this envelope (src/domain/schema/error.ts).
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
