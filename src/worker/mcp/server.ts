import {
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  Server,
} from "@modelcontextprotocol/server";
import packageJson from "../../../package.json" with { type: "json" };
import { type ErrorCode, errors, fail, type Failure, type Result } from "../../domain/errors.ts";
import { aboutMe, aboutMePrompt } from "./about-me.ts";
import { allows } from "./access.ts";
import { failureText } from "./failure-text.ts";
import { instructions } from "./instructions.ts";
import { listResources, readResource, resourceTemplates } from "./resources.ts";
import type { Context, Said } from "./tool.ts";
import { tools } from "./tools.ts";

/**
 * What a request is served with. `unexpected` logs what nobody expected, and says what its caller is told; `note` notes
 * in the audit log what a tool took away, or tried to, and whose it was.
 */
export type Serving = Context & {
  unexpected: (error: unknown) => Failure;
  note: (tool: string, done: { outcome: "ok" | ErrorCode; owner: string }) => void;
};

/**
 * The MCP server of one request: nothing of it outlives the request. Built on the SDK's low-level server, whose high-level
 * one tells a client what an unexpected error says, knows no pages of resources, and has its own words for bad arguments.
 */
export function mcpServer(serving: Serving): Server {
  const { access } = serving;
  const server = new Server(
    { name: "cairn", title: "Cairn memory", version: packageJson.version },
    { capabilities: { tools: {}, resources: {}, prompts: {} }, instructions: instructions(access) },
  );
  const mine = tools.filter(({ scope }) => allows(access, scope));
  const reads = allows(access, "read");

  server.setRequestHandler("tools/list", () => ({ tools: mine.map(({ listed }) => listed) }));
  server.setRequestHandler("tools/call", async ({ params }) => {
    const tool = tools.find(({ listed }) => listed.name === params.name);
    if (tool === undefined)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    const result = mine.includes(tool)
      ? await caught(serving, () => tool.call(serving, params.arguments))
      : mayNot(serving, tool.scope);
    if (tool.listed.annotations?.destructiveHint === true) {
      const owner = tool.ownerOf(access, params.arguments);
      serving.note(params.name, { outcome: result.ok ? "ok" : result.code, owner });
    }
    return resultOf(result);
  });

  server.setRequestHandler("resources/list", async ({ params }) =>
    reads
      ? unwrapped(await caught(serving, () => listResources(serving, params?.cursor)))
      : { resources: [] },
  );
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: reads ? resourceTemplates : [],
  }));
  server.setRequestHandler("resources/read", async ({ params: { uri } }) => {
    const read = reads ? await caught(serving, () => readResource(serving, uri)) : mayNot(serving, "read");
    if (!read.ok && read.code === "not_found") throw new ResourceNotFoundError(uri);
    return unwrapped(read);
  });

  server.setRequestHandler("prompts/list", () => ({ prompts: reads ? [aboutMe] : [] }));
  server.setRequestHandler("prompts/get", async ({ params: { name } }) => {
    if (name !== aboutMe.name)
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no prompt ${name}.`);
    return unwrapped(reads ? await caught(serving, () => aboutMePrompt(serving)) : mayNot(serving, "read"));
  });
  return server;
}

const mayNot = ({ access }: Context, scope: "read" | "write") =>
  fail("forbidden", {
    message: access.caller.scopes.has(scope)
      ? "The token may read this memory, not change it."
      : `The token lacks the scope '${scope}'.`,
  });

/** What nobody expected is logged, and told to nobody. */
async function caught<T>({ unexpected }: Serving, work: () => Promise<Result<T>>): Promise<Result<T>> {
  try {
    return await work();
  } catch (error) {
    return unexpected(error);
  }
}

/** A failure of a tool is a result, which the model reads; an error of the protocol would only reach its host. */
function resultOf(result: Result<Said>): CallToolResult {
  if (!result.ok) return { isError: true, content: [{ type: "text", text: failureText(result) }] };
  const { text, structured } = result.value;
  return { content: [{ type: "text", text }], ...(structured && { structuredContent: structured }) };
}

/** Resources and prompts are asked for by the host, which is told of failures by the protocol's errors. */
function unwrapped<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  const code =
    errors[result.code][0] >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams;
  throw new ProtocolError(code, failureText(result));
}
