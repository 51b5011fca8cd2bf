import type { Context, MiddlewareHandler } from "hono";
import { auditRow } from "../audit/event.ts";
import type { Refused } from "../audit/refused-calls.ts";
import { writeEvent } from "../audit/write.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";
import { ownerInPath } from "./owner-in-path.ts";

/** Notes in the audit log, behind the answer, what the call did or tried to do: to the memory of the user in its path, or of another. */
export function audit(
  c: Context<AppEnv>,
  { action, outcome, user }: { action: string; outcome: "ok" | ErrorCode; user?: string },
): void {
  const { auditLog, now } = c.get("services");
  const [at, caller, requestId, about] = [now(), c.get("caller"), c.get("requestId"), c.get("about")];
  const written = async () => {
    const owner = user === undefined ? await ownerInPath(c) : await userHash(user);
    const event = {
      action,
      outcome,
      caller,
      requestId,
      ...(owner !== null && { user: owner }),
      ...(about !== undefined && { about }),
    };
    await writeEvent(auditLog, await auditRow(event, at));
  };
  afterAnswer(c, written());
}

/** Notes that a token was refused, or that there was none: many at once in one event. */
export function auditRefusedToken(c: Context<AppEnv>, code: ErrorCode): void {
  noteRefused(c, { action: "token.refused", outcome: code, actor: null, tokenId: null, userHash: null });
}

/** Notes that a token asked for what is another's: a caller's many in one event, with the last one's owner. */
export function auditRefusedAccess(c: Context<AppEnv>): void {
  const { user, tokenId = null } = c.get("caller");
  const noted = async () => {
    const [actor, userHashed] = [await userHash(user), await ownerInPath(c)];
    const refused = { action: "access.refused", outcome: "not_found", actor, tokenId, userHash: userHashed };
    noteRefused(c, refused);
  };
  afterAnswer(c, noted());
}

function noteRefused(c: Context<AppEnv>, refused: Refused): void {
  const { auditLog, refusedCalls, now } = c.get("services");
  const event = refusedCalls.note(refused, { requestId: c.get("requestId"), now: now() });
  if (event !== null) afterAnswer(c, writeEvent(auditLog, event));
}

/** Writes each call of a route into the audit log under this name, whether it fails or not. */
export const auditing =
  (action: string): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    await next();
    audit(c, { action, outcome: c.error === undefined ? "ok" : codeOf(c.error) });
  };

/** The same for work that only some calls of a route do. */
export async function audited<T>(c: Context<AppEnv>, action: string, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    audit(c, { action, outcome: "ok" });
    return done;
  } catch (error) {
    audit(c, { action, outcome: codeOf(error) });
    throw error;
  }
}

const codeOf = (error: unknown): ErrorCode => (error instanceof Refusal ? error.failure.code : "internal");

/** Lets work that never rejects go on behind the answer; without a context of the runtime, it goes on by itself. */
function afterAnswer(c: Context<AppEnv>, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Hono has no context where an app is called without one, as tests do.
  }
}
