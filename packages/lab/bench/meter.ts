import { userHash } from "#domain/ids.ts";
import { mintToken } from "#domain/token.ts";
import { type Counts, countsBy, type ObjectCounts, type Tokens, totalOf } from "./counts.ts";
import { type Call, Client } from "./load.ts";
import type { ScriptedModels } from "./scripted-models.ts";
import { type Server, startCairn } from "./servers.ts";

const YEAR = 365 * 86_400_000;

/** What is counted while something is done. `byTable`: the rows that objects wrote, most first. */
export type Counted = {
  counted: Counts & { requests: number };
  tokens: Tokens;
  byTable: [table: string, rows: number][];
};

/** A counting Cairn, whose clock this process moves on: no alarm goes off by itself. */
export class Meter {
  readonly #client: Client;
  readonly #models: ScriptedModels;
  readonly #threads = new Map<string, string>();

  constructor(server: Server, models: ScriptedModels) {
    this.#client = new Client(server);
    this.#models = models;
  }

  /** The last thread that was resumed for the user. */
  threadOf = (u: string): string => this.#threads.get(u) ?? "";

  async make(u: string, call: Call): Promise<void> {
    const answer = await this.#client.call(call);
    if (call.path.endsWith("/resume")) this.#threads.set(u, (JSON.parse(answer) as { id: string }).id);
  }

  now = async (): Promise<number> => (await totalOf(this.#client)).now;

  /** Moves the clock on to a time. The user's alarms until then go off, and the object sleeps between them. */
  async moveTo(u: string, until: number): Promise<void> {
    const path = `/counts/${await userHash(u)}/moved?until=${until}`;
    await this.#client.call({ method: "POST", path, status: 204 });
  }

  moveOn = async (u: string, ms: number): Promise<void> => this.moveTo(u, (await this.now()) + ms);

  async objectOf(u: string): Promise<ObjectCounts> {
    const call: Call = { method: "GET", path: `/counts/${await userHash(u)}`, status: 200 };
    return JSON.parse(await this.#client.call(call)) as ObjectCounts;
  }

  async count(act: () => Promise<void>): Promise<Counted> {
    const [before, read] = [await totalOf(this.#client), this.#models.tokens()];
    await act();
    const [after, left] = [await totalOf(this.#client), this.#models.tokens()];
    return {
      counted: {
        ...countsBy((kind) => after[kind] - before[kind]),
        requests: after.requests - before.requests,
      },
      tokens: {
        calls: left.calls - read.calls,
        input: left.input - read.input,
        output: left.output - read.output,
      },
      byTable: Object.entries(after.byTable)
        .map(([table, rows]): [string, number] => [table, rows - (before.byTable[table] ?? 0)])
        .filter(([, rows]) => rows > 0)
        .toSorted(([, a], [, b]) => b - a),
    };
  }

  close = (): Promise<void> => this.#client.close();
}

/** Runs over a Cairn of its own with these variables. */
export async function withMeter(
  models: ScriptedModels,
  vars: Readonly<Record<string, string>>,
  run: (meter: Meter) => Promise<void>,
): Promise<void> {
  const server = await startCairn({ counting: true, evicts: false, vars });
  // The token outlives the simulated months.
  const token = await mintToken(
    server.secret,
    { user: "*", scope: ["read", "write", "cache"], ttlMs: 10 * YEAR },
    Date.now(),
  );
  const meter = new Meter({ ...server, token }, models);
  try {
    await run(meter);
  } finally {
    await meter.close();
    await server.stop();
  }
}
