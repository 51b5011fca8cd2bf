// A server behind a proxy that records the requests of the command, and can answer in the server's place.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { type Cairn, cairn } from "../../../packages/client/src/index.ts";
import { developmentSecret } from "../../../packages/dev/development-secret.ts";
import { freePort, type LocalServer, startLocalServer } from "../../../packages/dev/local-server.ts";
import { mintToken } from "../../../src/domain/token.ts";
import { command, folder } from "./command.ts";
import { fromNow } from "../../from-now.ts";

type Given = { status: number; body: unknown } | "gone" | undefined;

const PASSED = [
  "accept",
  "authorization",
  "cairn-location",
  "cairn-trust",
  "content-type",
  "idempotency-key",
];

/** For all tests of a file. */
export class Proxied {
  /** Requests since the test began. */
  sent: { call: string; trust: string | undefined; location: string | undefined; body: string }[] = [];
  /** An answer in the server's place, or a connection that breaks off; undefined passes a request on. */
  answer: (call: string) => Given = () => undefined;
  url = "";
  token = "";
  #server: LocalServer | undefined;
  #proxy: Server | undefined;

  constructor() {
    beforeAll(() => this.#start());
    beforeEach(() => {
      this.sent = [];
      this.answer = () => undefined;
    });
    afterAll(async () => {
      this.#proxy?.close();
      await this.#server?.stop();
    });
  }

  /** A client of the server itself. */
  get memory(): Cairn {
    return cairn({ url: this.#server?.url ?? "", token: this.token });
  }

  /** Runs the command against the proxy. */
  readonly run = (args: string[]) => command(args, { CAIRN_URL: this.url, CAIRN_TOKEN: this.token });

  /** All data of a user, as text. */
  async stored(user: string): Promise<string> {
    return new Response(await this.memory.transfer.export(user)).text();
  }

  async textsOf(user: string): Promise<string[]> {
    const { items } = await this.memory.memories.list(user, { limit: 1000 });
    return items.map(({ text }) => text).toSorted();
  }

  async #start(): Promise<void> {
    this.#server = await startLocalServer({ port: await freePort(), state: join(folder, "state") });
    const claims = { user: "*", scope: ["read", "write", "admin"] as const };
    this.token = await mintToken(developmentSecret(), claims, fromNow(-60_000));
    const proxy = createServer((request, response) => {
      this.#pass(request, response).catch(() => request.socket.destroy());
    });
    this.#proxy = proxy;
    await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
    // A server on a port has an address of this kind.
    this.url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "GET", url = "", headers } = request;
    const body = await buffer(request);
    this.sent.push({
      call: `${method} ${url}`,
      trust: headers["cairn-trust"]?.toString(),
      location: headers["cairn-location"]?.toString(),
      body: body.toString(),
    });
    const given = this.answer(`${method} ${url}`);
    if (given === "gone") return void request.socket.destroy();
    if (given !== undefined) return void response.writeHead(given.status).end(JSON.stringify(given.body));
    const from = await fetch(`${this.#server?.url}${url}`, {
      method,
      headers: PASSED.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])]])),
      ...(body.length > 0 && { body: new Uint8Array(body) }),
    });
    response.writeHead(from.status, { "Content-Type": "application/json" }).end(await from.text());
  }
}
