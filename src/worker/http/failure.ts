import type { Context } from "hono";
import { HTTPException } from "hono/http-exception";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { core } from "zod";
import { type Detail, type ErrorCode, errors, type Failure, type Result } from "../../domain/errors.ts";
import { storageFailureOf } from "../../platform/storage-failure.ts";
import type { AppEnv } from "./context.ts";

/** A failure on its way to `onError`: expected failures are values up to the routes, and one throw from there. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.code);
    this.failure = failure;
  }
}

/** The value of a result, or the way to the error envelope. */
export function unwrap<T>(result: Result<T>): T {
  if (!result.ok) throw new Refusal(result);
  return result.value;
}

/** The one envelope of errors, with the headers that belong to its status. */
export function answerFailure(c: Context<AppEnv>, { code, message, details }: Omit<Failure, "ok">): Response {
  const [status, standard] = errors[code];
  const error = {
    code,
    message: message ?? standard,
    ...(details && { details }),
    requestId: c.get("requestId"),
  };
  if (status === 401) c.header("WWW-Authenticate", challenge(code));
  if (status === 503) c.header("Retry-After", "2");
  return c.json({ error }, status as ContentfulStatusCode);
}

/** What a token lacks, as RFC 6750 has it (section 3): no error where none came. */
const challenge = (code: ErrorCode): string =>
  code === "unauthenticated" ? `Bearer realm="cairn"` : `Bearer realm="cairn", error="invalid_token"`;

/** Turns whatever was thrown into the envelope; what nobody expected is logged, and told to nobody. */
export function onError(error: Error, c: Context<AppEnv>): Response {
  if (error instanceof Refusal) return answerFailure(c, error.failure);
  // Hono's validator throws these two.
  if (error instanceof HTTPException && error.status === 400)
    return answerFailure(c, { code: "invalid_json" });
  if (error instanceof HTTPException && error.status === 415)
    return answerFailure(c, { code: "unsupported_media_type" });
  return answerFailure(c, { code: codeOfUnexpected(error, c.get("requestId")) });
}

/** Logs what nobody expected, and says what its caller is told: to try again, where that may help. */
export function codeOfUnexpected(error: unknown, requestId: string): ErrorCode {
  console.error({
    message: "request failed",
    requestId,
    error: error instanceof Error ? (error.stack ?? String(error)) : String(error),
  });
  return storageFailureOf(error) ?? "internal";
}

type Issue = core.$ZodIssue;

/** A failed validation of one part of the request (`json`, `query`, `param`, …) as the failure it is. */
export function invalid(target: string, issues: readonly Issue[]): Omit<Failure, "ok"> {
  const code = issues.map(ownCode).find((own) => own !== undefined) ?? "invalid_request";
  return { code, details: issues.flatMap((issue) => detailsOf(TARGETS[target] ?? target, issue)) };
}

const TARGETS: Record<string, string> = { json: "body", param: "path" };

/** The code that a limit's `breaks` gave to the issue. */
function ownCode(issue: Issue): ErrorCode | undefined {
  const code: unknown = issue.code === "custom" ? issue.params?.code : undefined;
  return typeof code === "string" && code in errors ? (code as ErrorCode) : undefined;
}

function detailsOf(target: string, issue: Issue): Detail[] {
  const path = issue.path.reduce<string>(
    (so, step) => (typeof step === "number" ? `${so}[${step}]` : `${so}.${String(step)}`),
    target,
  );
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: `${path}.${key}`, message: "is unknown" }));
  return [{ path, message: isMissing(issue) ? "is required" : issue.message }];
}

/** Whether nothing is where something has to be. */
function isMissing(issue: Issue): boolean {
  if (issue.code !== "invalid_union" || issue.discriminator === undefined) return issue.input === undefined;
  // What tells the shapes apart is looked for in the input, which is all of it.
  return !Object.hasOwn(Object(issue.input), issue.discriminator);
}
