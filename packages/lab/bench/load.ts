import { Pool } from "undici";
import type { Server } from "./servers.ts";

export type Call = { method: "GET" | "PUT" | "POST"; path: string; body?: string; status: number };
export type Round = { rps: number; latencies: number[]; cpuMs: number | null };
/** `connections`: fewer than all. */
export type Bounds = { ms: number; calls: number; connections?: number };

/** Calls at a time, each on a connection of its own that is kept. */
export const CONNECTIONS = 16;

/** One server's connections. A call that is answered with another status ends the run. */
export class Client {
  readonly server: Server;
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;

  constructor(server: Server) {
    this.server = server;
    this.#pool = new Pool(server.url.origin, { connections: CONNECTIONS });
    this.#headers = { authorization: `Bearer ${server.token}` };
  }

  async call({ method, path, body, status }: Call): Promise<string> {
    const answer = await this.#pool.request({
      method,
      path,
      headers: body === undefined ? this.#headers : { ...this.#headers, "content-type": "application/json" },
      ...(body !== undefined && { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== status)
      throw new Error(`${this.server.name}: ${method} ${path} answered ${answer.statusCode}: ${text}`);
    return text;
  }

  /** Makes the calls `next(0)`, `next(1)`, … as fast as they are answered, until one of the bounds. */
  async run(next: (i: number) => Call, bounds: Bounds): Promise<Round> {
    const cpuBefore = this.server.cpu();
    const done = await inLanes((i) => this.call(next(i)), bounds);
    const cpuAfter = this.server.cpu();
    return { ...done, cpuMs: cpuBefore === null || cpuAfter === null ? null : cpuAfter - cpuBefore };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** Calls `call(0)`, `call(1)`, …, some at a time, until one of the bounds. */
export async function inLanes(
  call: (i: number) => Promise<unknown>,
  { ms, calls, connections = CONNECTIONS }: Bounds,
): Promise<Pick<Round, "rps" | "latencies">> {
  const latencies: number[] = [];
  let i = 0;
  const started = performance.now();
  const lane = async (): Promise<void> => {
    while (i < calls && performance.now() - started < ms) {
      const before = performance.now();
      await call(i++);
      latencies.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: Math.min(connections, calls) }, lane));
  return { rps: (latencies.length * 1000) / (performance.now() - started), latencies };
}
