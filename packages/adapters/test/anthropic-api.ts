// Anthropic's API on loopback, whose model plays a script, and the SDK's client of it.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import Anthropic from "@anthropic-ai/sdk";

type Marked = { cache_control?: { type: string; ttl?: string } };
export type Block = Marked & { type: string; text?: string; [more: string]: unknown };
/** A request as the API got it. */
export type Sent = Marked & {
  system?: string | Block[];
  messages: { role: string; content: string | Block[] }[];
  tools?: (Marked & object)[];
  stream?: boolean;
};
/** An answer of the model: a text, or a call of a tool. */
export type Said = string | { tool: string; input: object };

const usage = { input_tokens: 1, output_tokens: 1 };

export async function fakeApi() {
  const sent: Sent[] = [];
  const script: Said[] = [];

  const answer = (said: Said) => {
    const message = { id: "msg", type: "message", role: "assistant", model: "m", stop_sequence: null, usage };
    if (typeof said === "string")
      return { ...message, content: [{ type: "text", text: said }], stop_reason: "end_turn" };
    const { tool: name, input } = said;
    const content = [{ type: "tool_use", id: `toolu_${sent.length}`, name, input }];
    return { ...message, content, stop_reason: "tool_use" };
  };

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as Sent;
    sent.push(body);
    const said = answer(script.shift() ?? "Done.");
    response.setHeader("content-type", body.stream === true ? "text/event-stream" : "application/json");
    response.end(body.stream === true ? eventsOf(said) : JSON.stringify(said));
  }

  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // of a TCP server
  const client = new Anthropic({ apiKey: "none", baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
  return { client, sent, script, close: () => void server.close() };
}
export type FakeApi = Awaited<ReturnType<typeof fakeApi>>;

/** The events of a streamed text. */
function eventsOf({ content, stop_reason, ...message }: { content: object[]; stop_reason: string }): string {
  const [block] = content as [{ text: string }]; // of a text
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: block.text } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join("");
}
