import type { Context, MiddlewareHandler } from "hono";
import { v7 as uuidv7 } from "uuid";
import type { Refused } from "../audit/refused-calls.ts";
import type { ErrorCode } from "../../domain/errors.ts";
import { userHash } from "../../domain/ids.ts";
import { writeEvent } from "../../platform/d1/audit-log.ts";
import type { Caller } from "../auth/claims.ts";
import { afterAnswer } from "./answer.ts";
import type { AppEnv } from "./context.ts";
import { Refusal } from "./failure.ts";

/**
 * Writes an event of this call into the audit log, after the answer: who did what to whose memory, without contents. `action`: an
 * operation as the API describes it (`DELETE /v1/threads/{id}`), or `POST /mcp <tool>`. The owner is `user`, or the one that the route
 * names; users appear as hashes only.
 */
export function writeAuditEvent(
  c: Context<AppEnv>,
  { action, outcome, user }: { action: string; outcome: "ok" | ErrorCode; user?: string },
): void {
  const { auditLog, now } = c.get("services");
  const [at, requestId, about = null] = [now(), c.get("requestId"), c.get("about")];
  // Absent where no token was accepted.
  const caller: Caller | undefined = c.get("caller");
  const write = async () => {
    await writeEvent(auditLog, {
      id: uuidv7({ msecs: at }),
      at,
      action,
      outcome,
      actor: caller === undefined ? null : caller.user === "*" ? "*" : await userHash(caller.user),
      tokenId: caller?.tokenId ?? null,
      userHash: user === undefined ? await ownerOf(c) : await userHash(user),
      requestId,
      about,
      count: 1,
    });
  };
  afterAnswer(c, write());
}

/** The owner that the route names, or null. */
const ownerOf = async (c: Context<AppEnv>): Promise<string | null> => (await c.get("ownerHash")?.()) ?? null;

/** Counts a call with a refused token, or with none. Only a service binding, whose props are refused, has a name then. */
export function auditRefusedToken(c: Context<AppEnv>, code: ErrorCode, tokenId: string | null = null): void {
  countRefused(c, { action: "token.refused", outcome: code, actor: null, tokenId, userHash: null });
}

/** Counts a call for another user's data, by its caller. The event has the owner of the minute's first such call. */
export function auditRefusedAccess(c: Context<AppEnv>): void {
  const { user, tokenId = null } = c.get("caller");
  const count = async () => {
    const [actor, userHashed] = [await userHash(user), await ownerOf(c)];
    const refused = { action: "access.refused", outcome: "not_found", actor, tokenId, userHash: userHashed };
    countRefused(c, refused);
  };
  afterAnswer(c, count());
}

function countRefused(c: Context<AppEnv>, refused: Refused): void {
  const { auditLog, refusedCalls, now } = c.get("services");
  const event = refusedCalls.count(refused, { requestId: c.get("requestId"), now: now() });
  if (event !== null) afterAnswer(c, writeEvent(auditLog, event));
}

/** Writes each call of a route into the audit log under this name, whether it fails or not. */
export const auditMiddleware =
  (action: string): MiddlewareHandler<AppEnv> =>
  async (c, next) => {
    await next();
    writeAuditEvent(c, { action, outcome: c.error === undefined ? "ok" : codeOf(c.error) });
  };

/** The same for work that only some calls of a route do. */
export async function withAudit<T>(c: Context<AppEnv>, action: string, work: () => Promise<T>): Promise<T> {
  try {
    const done = await work();
    writeAuditEvent(c, { action, outcome: "ok" });
    return done;
  } catch (error) {
    writeAuditEvent(c, { action, outcome: codeOf(error) });
    throw error;
  }
}

const codeOf = (error: unknown): ErrorCode => (error instanceof Refusal ? error.failure.code : "internal");
