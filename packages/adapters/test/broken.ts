// Servers that fail, between a client and the Cairn that the tests run against.
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Fetch } from "../../client/src/index.ts";
import type { ErrorCode } from "../../../src/domain/errors.ts";

/** Answers with this failure, every call or as often as said, and then lets calls through. */
export function failing(
  status: number,
  { code = "storage_unavailable", times = Infinity }: { code?: ErrorCode; times?: number } = {},
): Fetch {
  let left = times;
  return (request) => {
    if (left-- <= 0) return fetch(request);
    return Response.json({ error: { code, message: "as the test wants it", requestId: "r" } }, { status });
  };
}

/** Never answers; a signal ends it. */
export const silent: Fetch = ({ signal }) =>
  new Promise((_, reject) =>
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- as `fetch` does.
    signal.addEventListener("abort", () => reject(signal.reason)),
  );

/** Does what it is asked and loses the answer of the first call that this means; a client that sends it again gets one. */
export function losing(means: (request: Request) => boolean): Fetch {
  let lost = false;
  return async (request) => {
    const due = !lost && means(request);
    const response = await fetch(request);
    if (!due) return response;
    lost = true;
    throw new TypeError("the answer is lost");
  };
}

/** Lets calls through, and counts them. */
export function counting(): { fetch: Fetch; calls: string[] } {
  const calls: string[] = [];
  const counted: Fetch = (request) => {
    calls.push(`${request.method} ${new URL(request.url).pathname}`);
    return fetch(request);
  };
  return { fetch: counted, calls };
}

/** How a server takes calls: it answers them; never; with headers alone, done or not; or does them when nobody waits. */
export type Manner = "healthy" | "silent" | "headers only" | "late";

/**
 * A server before the Cairn of the tests, over real HTTP, that can be made to hang. `hung` runs for each call that it lets
 * hang, and what it does late is done when `settled` resolves.
 */
export async function hanging(target: string, hung: () => void) {
  let manner: Manner = "healthy";
  const late: Promise<unknown>[] = [];
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const now = manner;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a request's chunks are bytes
    const { method = "GET", url = "/", headers } = request;
    const forward = () =>
      fetch(target + url, {
        method,
        headers: Object.entries(headers).flatMap(([name, value]): [string, string][] =>
          typeof value === "string" && !UNSENT.includes(name) ? [[name, value]] : [],
        ),
        ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
      });
    if (now === "silent") return hung();
    if (now === "late") {
      late.push(once(response, "close").then(forward));
      return hung();
    }
    const answer = await forward();
    const body = Buffer.from(await answer.arrayBuffer());
    for (const [name, value] of answer.headers) if (!UNSENT.includes(name)) response.setHeader(name, value);
    response.statusCode = answer.status;
    if (now === "healthy") return void response.end(body);
    response.flushHeaders();
    hung();
  };
  const server = createServer((request, response) => void take(request, response));
  await once(server.listen(0, "127.0.0.1"), "listening");
  // A server that listens on a port has an address, and no path.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    become: (next: Manner) => void (manner = next),
    settled: () => Promise.all(late),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Headers of one connection. */
const UNSENT = ["connection", "content-encoding", "content-length", "host", "transfer-encoding"];
