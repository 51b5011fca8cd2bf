import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Handler, MiddlewareHandler } from "hono";
import { type ErrorCode, fail, type Failure, fieldOverLimit } from "../../domain/errors.ts";
import { writeAuditEvent } from "../http/audit.ts";
import { refusePreconditions } from "../http/conditions.ts";
import type { AppEnv } from "../http/context.ts";
import { isAllowed, UNKNOWN_ORIGIN } from "../http/cors.ts";
import { codeOfUnexpected, Refusal, unwrap } from "../http/failure.ts";
import { parsedBody } from "../http/json-body.ts";
import { reachUser, type RouteOwner } from "../http/owner.ts";
import { countCall, countUsers } from "../http/rates.ts";
import { newRouter, undocumented } from "../http/router.ts";
import { wrapTime } from "../http/answer.ts";
import { limits } from "../../domain/limits.ts";
import { leastOf } from "../../domain/memory/trust.ts";
import { writerOf } from "../http/writer.ts";
import { accessOf, USER_HEADER, userOf } from "../mcp/access.ts";
import { mcpServer } from "../mcp/server.ts";

const LOOPBACK: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Accepts browsers only from CORS_ORIGINS, and from a page of the same local server. Any other page of the same origin may
 * be a name that points at this machine (DNS rebinding).
 */
const requireKnownOrigin: MiddlewareHandler<AppEnv> = async (c, next) => {
  const origin = c.req.header("Origin") ?? null;
  const { corsOrigins } = c.get("services");
  const own = new URL(c.req.url);
  const isLocal = origin === own.origin && LOOPBACK.includes(own.hostname);
  if (origin === null || isAllowed(corsOrigins, origin) || isLocal) return next();
  throw new Refusal(UNKNOWN_ORIGIN);
};

/** A request for a stream of notifications, which the SDK would keep open without ever sending one. */
const isListen = (message: unknown): message is { id?: unknown } =>
  Object(message).method === "subscriptions/listen";

/** The protocol's answer to an unknown method. */
const noNotifications = (id: unknown) => ({
  jsonrpc: "2.0" as const,
  id: typeof id === "string" || typeof id === "number" ? id : null,
  error: { code: -32_601, message: "This server sends no notifications." },
});

/** The Model Context Protocol. Each POST has its own server, so there is no session to steal. */
export const mcp = newRouter();

/** The user that the header names, else the token's. Each tool says which other owners its arguments may name. */
const ofNamedUser: RouteOwner = {
  kind: "named user",
  reach: async (c) => reachUser(c, unwrap(userOf(c.get("caller"), c.req.header(USER_HEADER)))),
};

const answerMessages: Handler<AppEnv> = async (c) => {
  const caller = c.get("caller");
  const access = accessOf(caller, unwrap(userOf(caller, c.req.header(USER_HEADER))));
  const message = parsedBody(c);
  if (Array.isArray(message) && message.length > limits.mcpBatch)
    throw new Refusal(fieldOverLimit("body", `holds more than ${limits.mcpBatch} messages`));
  // Each message is a call; the middleware has counted the first.
  if (Array.isArray(message)) for (const _ of message.slice(1)) await countCall(c);
  await countUsers(c, Array.isArray(message) ? message.map(() => access.user) : [access.user]);
  if (isListen(message)) return c.json(noNotifications(message.id), 404);
  const unexpected = (error: unknown): Failure => {
    const requestId = c.get("requestId");
    const code = codeOfUnexpected(error, requestId);
    if (code !== "internal") return fail(code);
    return fail(code, {
      message: `Something went wrong in Cairn; its logs have the request id ${requestId}.`,
    });
  };
  const auditTool = (tool: string, { outcome, owner }: { outcome: "ok" | ErrorCode; owner: string }) =>
    writeAuditEvent(c, { action: `POST /mcp ${tool}`, outcome, user: owner });
  const services = c.get("services");
  const writer = writerOf(c);
  // A model calls tools, whoever's token it has.
  const by = {
    trust: leastOf(writer.trust, "model"),
    writtenBy: { adapter: "mcp", ...writer.writtenBy },
  };
  const handler = createMcpHandler(() => mcpServer({ services, access, by, unexpected, audit: auditTool }), {
    // A client's mistake is in its answer.
    onerror: () => {},
  });
  const response = await wrapTime(c, "mcp", handler.fetch(c.req.raw, { parsedBody: message }));
  // The SDK's own body has no code of Cairn. The protocol leaves the body of such an answer open.
  if (response.status === 406) throw new Refusal(fail("not_acceptable"));
  // A copy with mutable headers.
  return new Response(response.body, response);
};

undocumented(
  mcp,
  {
    method: "post",
    path: "/mcp",
    scope: "by tool",
    owner: ofNamedUser,
    before: [requireKnownOrigin, refusePreconditions()],
    bodyBytes: limits.mcpBody,
  },
  answerMessages,
);
