// Bodies that no client library sends, over TCP, to a workerd without any proxy before it.
import { connect } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Server, startCairn } from "../../../packages/lab/bench/servers.ts";

let server: Server;
beforeAll(async () => void (server = await startCairn()));
afterAll(() => server.stop());

/** The server's answer to these bytes; `hangUp`: the sending side is closed behind them. */
function answerTo(head: readonly string[], body: string, { hangUp }: { hangUp: boolean }): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: server.url.hostname, port: Number(server.url.port), allowHalfOpen: true });
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString();
      if (/\r\n\r\n.*[}\n]$/s.test(answer)) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    const lines = [
      ...head,
      `Host: ${server.url.host}`,
      `Authorization: Bearer ${server.token}`,
      "Content-Type: application/json",
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
    if (hangUp) socket.end();
  });
}

it.each([
  ["whose chunks are no chunks", ["Transfer-Encoding: chunked"], "zz\r\n{}\r\n0\r\n\r\n", { hangUp: false }],
  ["whose last chunk never comes", ["Transfer-Encoding: chunked"], '5\r\n"half\r\n', { hangUp: true }],
  ["that is shorter than its length", ["Content-Length: 100"], '"half', { hangUp: true }],
])("answers 400 to a body %s", async (_, headers, body, how) => {
  const answer = await answerTo(["PUT /v1/users/alice/kv/key HTTP/1.1", ...headers], body, how);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(await (await fetch(new URL("/health", server.url))).json()).toMatchObject({ status: "ok" });
});
