import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fetch } from "../../client/src/index.ts";

/** Sends over HTTP, keeps what is sent, and answers in the server's place where `instead` does. */
export function observed(
  instead: (request: Request, call: number) => Response | undefined = () => undefined,
) {
  const calls: string[] = [];
  const send: Fetch = async (request) => {
    const { pathname } = new URL(request.url);
    calls.push(`${request.method} /${pathname.split("/").slice(4).join("/")}`);
    request.signal.throwIfAborted();
    return instead(request, calls.length) ?? fetch(request);
  };
  return { calls, fetch: send };
}

/** What a server answers that is busy for the moment. */
export const busy = (status: 429 | 503): Response =>
  Response.json(
    { error: { code: status === 429 ? "rate_limited" : "not_configured", message: "busy", requestId: "r" } },
    { status, headers: { "Retry-After": "0" } },
  );

/** A server that takes every call, and never answers one. */
export async function silentServer(): Promise<{ url: string; close: () => void }> {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  // A server that listens on a port has an address, and no path.
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}
