import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { type ErrorCode, errors, type Failure, knownCode, type Result } from "../../domain/errors.ts";
import { storageFailureOf } from "../../platform/storage-failure.ts";
import type { AppEnv } from "./context.ts";

const DAY_MS = 24 * 60 * 60_000;

/** Carries a failure to `onError`. Below the routes, expected failures are returned values. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

/** The value of a result; throws a failure as a `Refusal`. */
export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Refusal(result);
  return result.value;
}

/** The one envelope of errors, with the headers of its status. */
export function answerFailure(c: Context<AppEnv>, failure: Omit<Failure, "ok">): Response {
  const { message, details } = failure;
  const code = knownCode(failure.code) ?? codeOfUnexpected(unknownCode(failure), c.get("requestId"));
  c.set("failure", code);
  const [status, standard] = errors[code];
  const error = {
    code,
    message: message ?? standard,
    ...(details && { details }),
    requestId: c.get("requestId"),
  };
  if (status === 401) c.header("WWW-Authenticate", challenge(code, c.get("signInAt")));
  if (status === 503) c.header("Retry-After", String(code === "daily_limit" ? untilTomorrow(c) : 2));
  return c.json({ error }, status as ContentfulStatusCode);
}

/** An object of another version answers it, and this one has no status for it. */
export const unknownCode = ({ code }: Pick<Failure, "code">): Error =>
  new Error(`an object of another version answered ${code}`);

/** Seconds until 0:00 UTC. */
const untilTomorrow = (c: Context<AppEnv>): number =>
  Math.ceil((DAY_MS - (c.get("services").now() % DAY_MS)) / 1000);

/** RFC 6750, section 3: a call without a token gets no `error`. RFC 9728, section 5.1: it is told how to sign in. */
const challenge = (code: ErrorCode, signInAt: string | undefined): string =>
  [
    `Bearer realm="cairn"`,
    ...(code === "unauthenticated" ? [] : [`error="invalid_token"`]),
    ...(signInAt === undefined ? [] : [`resource_metadata="${signInAt}"`]),
  ].join(", ");

/** Turns a thrown error into the envelope. An unexpected one is logged, and the caller sees nothing of it. */
export function onError(error: Error, c: Context<AppEnv>): Response {
  if (error instanceof Refusal) return answerFailure(c, error.failure);
  return answerFailure(c, { code: codeOfUnexpected(error, c.get("requestId")) });
}

/** Logs an unexpected error. Returns the code for the caller: one that asks for another try, where that may help. */
export function codeOfUnexpected(error: unknown, requestId: string): ErrorCode {
  console.error({
    message: "request failed",
    requestId,
    error: error instanceof Error ? (error.stack ?? String(error)) : String(error),
  });
  return storageFailureOf(error) ?? "internal";
}
