import { exports } from "cloudflare:workers";
import { token, tokenWith } from "./call.ts";
import type { Scope } from "../src/domain/token.ts";

// Answers of every shape are read here.
// oxlint-disable-next-line typescript/no-explicit-any
type Any = any;
export type McpAnswer = { status: number; headers: Headers; result: Any; error: Any; body: Any };
type Call = { token?: string | null; headers?: Record<string, string> };

const VERSION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": VERSION,
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** One request of the revision 2026-07-28, as its clients write it. With a token of all users unless another is given. */
export async function mcp(
  method: string,
  params: Record<string, unknown> = {},
  call: Call = {},
): Promise<McpAnswer> {
  const name = params.name ?? params.uri;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: META } });
  return mcpPost(body, {
    ...call,
    headers: {
      "MCP-Protocol-Version": VERSION,
      "Mcp-Method": method,
      ...(typeof name === "string" && { "Mcp-Name": header(name) }),
      ...call.headers,
    },
  });
}

/** The same of the revisions of 2025, which are answered by a stream of one event. */
export const mcp2025 = (method: string, params: Record<string, unknown> = {}, call: Call = {}) =>
  mcpPost(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }), {
    ...call,
    headers: { "MCP-Protocol-Version": "2025-06-18", ...call.headers },
  });

/** Any body. */
export async function mcpPost(body: BodyInit, { token: given, headers }: Call = {}): Promise<McpAnswer> {
  const bearer = given === undefined ? await token("*") : given;
  const response = await exports.default.fetch("https://cairn.test/mcp", {
    method: "POST",
    headers: {
      ...(bearer !== null && { Authorization: `Bearer ${bearer}` }),
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...headers,
    },
    body,
  });
  const text = await response.text();
  const data = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const answer: Any = data === "" ? null : JSON.parse(data);
  return {
    status: response.status,
    headers: response.headers,
    result: answer?.result,
    error: answer?.error,
    body: answer,
  };
}

/** A header holds ASCII only: what is not, the protocol writes in base64. */
const header = (value: string): string =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)
    ? value
    : `=?base64?${btoa(String.fromCodePoint(...new TextEncoder().encode(value)))}?=`;

export type Said = { text: string; isError: boolean; structured: Any };

/** Calls a tool with a token of this user. */
export async function tool(
  user: string,
  name: string,
  given: object = {},
  { scope, shared }: { scope?: readonly Scope[]; shared?: readonly string[] } = {},
): Promise<Said> {
  const bearer = await tokenWith({ user, ...(scope && { scope }), ...(shared && { shared }) });
  return toolWith(bearer, name, given);
}

/** Calls a tool with this token. */
export async function toolWith(
  bearer: string,
  name: string,
  given: object = {},
  headers = {},
): Promise<Said> {
  const { result, body } = await mcp("tools/call", { name, arguments: given }, { token: bearer, headers });
  if (result === undefined) throw new Error(JSON.stringify(body));
  const { content, isError = false, structuredContent } = result;
  return { text: content[0].text, isError, structured: structuredContent };
}
