import { spawn, type SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { sentence } from "../bench/memories.ts";

/** As `bench` names them. */
export const operations = [
  "append of one message",
  "last 50 of 1,000",
  "KV put",
  "KV get",
  "list 50 of 1,000",
  "remember one",
  "recall among 1,000",
  "recall among 20,000",
] as const;
export type OperationName = (typeof operations)[number];

/** Makes call number `i`. Its answer is what the caller gets: a list, a value, or nothing of a write. */
export type Run = (i: number) => Promise<unknown>;
export type Started = {
  /** What it does not do, and where it runs. */
  lacks: string;
  /** How to install what would let it do more. */
  hint?: string;
  operations: Partial<Record<OperationName, Run>>;
  stop: () => Promise<void>;
};
export type Peer = {
  name: string;
  /** How to install what is not here; null if all is. */
  missing?: () => string | null;
  /** `memories`: how many a recall is among, each number for an operation of its own. */
  start: (memories: readonly number[]) => Promise<Started>;
};

export const PAGE = 50;
export const THREAD = 1000;
export const ENTRIES = 1000;
export const HITS = 10;

/** The texts and questions that Cairn is asked, too. */
export const memoryText = (i: number): string => `${sentence(i, 12)} ${i}`;
export const queryText = (i: number): string => sentence(i * 7 + 3, 6);

export const recallAmong = (size: number): string => `recall among ${size.toLocaleString("en-US")}`;

const MINUTE_MS = 60_000;
/** Before this time an estimate says little. */
const ESTIMATE_AFTER_MS = 5_000;

/**
 * Calls `fill` for each number of memories. One that takes longer than a minute has no recall: `isLate` tells so as soon
 * as that can be told by the memories that are `done`.
 */
export async function recalls(
  memories: readonly number[],
  fill: (size: number, isLate: (done: number) => boolean) => Promise<Run>,
): Promise<Partial<Record<OperationName, Run>>> {
  const runs: [string, Run][] = [];
  for (const size of memories) {
    const startedAt = performance.now();
    let late = false;
    const isLate = (done: number): boolean => {
      const ms = performance.now() - startedAt;
      return (late ||= ms > ESTIMATE_AFTER_MS && (ms * size) / Math.max(1, done) > MINUTE_MS);
    };
    const run = await fill(size, isLate);
    if (!isLate(size)) runs.push([recallAmong(size), run]);
  }
  return Object.fromEntries(runs);
}

/** Is removed when the benchmark ends, however it ends. */
export function temporaryFolder(): string {
  const path = mkdtempSync(join(tmpdir(), "cairn-peer-"));
  process.once("exit", () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }));
  return path;
}

/** A server that ends with the benchmark, however that ends. */
export function startServer(
  command: string,
  args: string[],
  options: SpawnOptions = {},
): { stop: () => Promise<void> } {
  const server = spawn(command, args, { ...options, stdio: "ignore" });
  const kill = () => server.kill();
  process.once("exit", kill);
  return {
    stop: async () => {
      process.off("exit", kill);
      const ended = once(server, "exit");
      kill();
      await ended;
    },
  };
}

export const pgvectorHint =
  "To have pgvector: apt-get install postgresql-15-pgvector from apt.postgresql.org, or Debian 13 with postgresql-17-pgvector";

export const commandPath = (name: string): string | undefined =>
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .map((folder) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))[0];

/** A port of loopback that nothing listens on. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return address instanceof Object ? address.port : 0;
}
