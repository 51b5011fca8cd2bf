import type { Context } from "hono";
import { auditRow } from "../audit/event.ts";
import { writeEvent } from "../audit/write.ts";
import type { ErrorCode } from "../errors.ts";
import { threadOwner, userHash } from "../ids.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/** Notes in the audit log, behind the answer, what the call did or tried to do: to the memory of the user in its path, or of another. */
export function audit(
  c: Context<AppEnv>,
  { action, outcome, user }: { action: string; outcome: "ok" | ErrorCode; user?: string },
): void {
  const { auditLog, now } = c.get("services");
  const [at, caller, requestId] = [now(), c.get("caller"), c.get("requestId")];
  const written = async () => {
    const owner = user === undefined ? await ownerOf(c) : await userHash(user);
    const event = { action, outcome, caller, requestId, ...(owner !== null && { user: owner }) };
    await writeEvent(auditLog, await auditRow(event, at));
  };
  afterAnswer(c, written());
}

/** Notes that a token was refused, or that there was none: many at once in one event. */
export function auditRefusedToken(c: Context<AppEnv>, code: ErrorCode): void {
  const { auditLog, refusedTokens, now } = c.get("services");
  const event = refusedTokens.note(code, { requestId: c.get("requestId"), now: now() });
  if (event !== null) afterAnswer(c, writeEvent(auditLog, event));
}

/** The work of a call, noted in the audit log however it ends. */
export async function audited<T>(c: Context<AppEnv>, action: string, work: () => Promise<T> | T): Promise<T> {
  try {
    const done = await work();
    audit(c, { action, outcome: "ok" });
    return done;
  } catch (error) {
    audit(c, { action, outcome: error instanceof Refusal ? error.failure.code : "internal" });
    throw error;
  }
}

async function ownerOf(c: Context<AppEnv>): Promise<string | null> {
  const user = c.req.param("user");
  return user === undefined ? threadOwner(c.req.param("id") ?? "") : userHash(user);
}

/** Lets work that never rejects go on behind the answer; without a context of the runtime, it goes on by itself. */
function afterAnswer(c: Context<AppEnv>, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // Hono has no context where an app is called without one, as tests do.
  }
}
