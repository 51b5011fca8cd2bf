import { wordOf } from "../auth/claims.ts";
import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import { version } from "../../../package.json";
import { type ErrorCode, errors, fail, type Failure, knownCode, type Result } from "../../domain/errors.ts";
import { aboutMe, aboutMePrompt } from "./about-me.ts";
import { allows } from "./access.ts";
import { unknownCode } from "../http/failure.ts";
import { failureText } from "./text.ts";
import { instructions } from "./instructions.ts";
import { listResources, readResource, resourceTemplates } from "./resources.ts";
import type { Context, ToolResult } from "./tool.ts";
import { tools } from "./tools.ts";

/** `unexpected` logs an error and returns the failure for the caller; `audit` records a tool that deletes, with its owner. */
export type RequestContext = Context & {
  unexpected: (error: unknown) => Failure;
  audit: (tool: string, done: { outcome: "ok" | ErrorCode; owner: string }) => void;
};

/**
 * The MCP server of one request. Built on the SDK's low-level server: the high-level one shows clients the text of unexpected
 * errors, has no pages of resources, and words errors of arguments itself.
 */
export function mcpServer(context: RequestContext): Server {
  const { access } = context;
  const server = new Server(
    { name: "cairn", title: "Cairn memory", version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: instructions(access) },
  );
  const allowed = tools.filter(({ scope }) => allows(access, scope));
  const reads = allows(access, "read");

  server.setRequestHandler("tools/list", () => ({ tools: allowed.map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = tools.find(({ listed }) => listed.name === params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    const result = allowed.includes(tool)
      ? await catchUnexpected(context, () => tool.call(context, params.arguments))
      : missingScope(context, tool.scope);
    if (tool.listed.annotations?.destructiveHint === true) {
      const owner = tool.ownerOf(access, params.arguments);
      context.audit(params.name, { outcome: result.ok ? "ok" : result.code, owner });
    }
    return callToolResult(result);
  });

  server.setRequestHandler("resources/list", async ({ params }) =>
    reads
      ? unwrapForHost(await catchUnexpected(context, () => listResources(context, params?.cursor)))
      : { resources: [] },
  );
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: reads ? resourceTemplates : [],
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const read = reads
      ? await catchUnexpected(context, () => readResource(context, uri))
      : missingScope(context, "read");
    if (!read.ok && read.code === "not_found") throw new ResourceNotFoundError(uri);
    return unwrapForHost(read);
  });

  server.setRequestHandler("prompts/list", () => ({ prompts: reads ? [aboutMe] : [] }));
  server.setRequestHandler("prompts/get", async ({ params: { name } }) => {
    if (name !== aboutMe.name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}.`);
    return unwrapForHost(
      reads ? await catchUnexpected(context, () => aboutMePrompt(context)) : missingScope(context, "read"),
    );
  });
  return server;
}

const missingScope = ({ access }: Context, scope: "read" | "write") =>
  fail("forbidden", {
    message: access.caller.scopes.has(scope)
      ? `The ${wordOf(access.caller)} may read this memory, not change it.`
      : `The ${wordOf(access.caller)} lacks the scope '${scope}'.`,
  });

/** Turns an unexpected error, or a code of another version, into a failure without its text. */
async function catchUnexpected<T>(
  context: RequestContext,
  work: () => Promise<Result<T>>,
): Promise<Result<T>> {
  try {
    const result = await work();
    if (result.ok) return result;
    const code = knownCode(result.code);
    return code === null ? context.unexpected(unknownCode(result)) : { ...result, code };
  } catch (error) {
    return context.unexpected(error);
  }
}

/** A failure of a tool is a result, for the model to read; a protocol error would reach only its host. */
function callToolResult(result: Result<ToolResult>): CallToolResult {
  if (!result.ok) return { isError: true, content: [{ type: "text", text: failureText(result) }] };
  const { text, structured } = result.value;
  return { content: [{ type: "text", text }], ...(structured && { structuredContent: structured }) };
}

/** Throws a failure as a protocol error, for the host, which reads resources and prompts. */
function unwrapForHost<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const code =
    errors[result.code][0] >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  throw new ProtocolError(code, failureText(result));
}
