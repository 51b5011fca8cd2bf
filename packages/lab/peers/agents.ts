// Cloudflare's Agents SDK, in a workerd of its own, reached as Cairn is.
import { build } from "esbuild";
import { join } from "node:path";
import { Pool } from "undici";
import { CONNECTIONS, inLanes } from "../bench/load.ts";
import { key, message, value } from "../bench/operations.ts";
import { startWorkerd } from "../bench/servers.ts";
import { ENTRIES, PAGE, type Peer, type Started, THREAD } from "./peer.ts";

export const agents: Peer = {
  name: "Cloudflare Agents SDK (SQL)",
  start,
};

const entry = (user: string, i: number) => `${user}/kv?key=${encodeURIComponent(key(i % ENTRIES))}`;

async function start(): Promise<Started> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, "agents-worker.ts")],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    minify: true,
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    alias: { path: "node:path" },
    logLevel: "error",
  });
  const contents = outputFiles[0]?.text ?? "";
  const { miniflare, url } = await startWorkerd(
    "agents",
    [{ type: "ESModule", path: "index.js", contents }],
    {
      compatibilityFlags: ["nodejs_compat"],
      durableObjects: { Memory: { className: "Memory", useSQLite: true } },
    },
  );
  const pool = new Pool(url.origin, { connections: CONNECTIONS });
  const call = async (method: "GET" | "PUT" | "POST", path: string, body?: string): Promise<string> => {
    const answer = await pool.request({
      method,
      path: `/agents/memory/${path}`,
      ...(body !== undefined && { body }),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300)
      throw new Error(`agents: ${method} ${path} answered ${answer.statusCode}: ${text}`);
    return text;
  };
  const append = (thread: string, i: number) =>
    call("POST", `${thread}/messages`, JSON.stringify(message(i)));
  await inLanes((i) => append("thread", i), { ms: 60_000, calls: THREAD });
  await inLanes((i) => call("PUT", entry("read", i), value(i)), { ms: 60_000, calls: ENTRIES });
  return {
    lacks: "no search, no token, no validation, no limits",
    operations: {
      "append of one message": (i) => append("growing", i),
      "last 50 of 1,000": async () => JSON.parse(await call("GET", "thread/messages")) as unknown,
      "KV put": (i) => call("PUT", entry("put", i), value(i)),
      "KV get": (i) => call("GET", entry("read", i)),
      "list 50 of 1,000": async (i) =>
        JSON.parse(
          await call("GET", `read/kv?prefix=${encodeURIComponent(`group-${i % (ENTRIES / PAGE)}/`)}`),
        ) as unknown,
    },
    stop: async () => {
      await pool.close();
      await miniflare.dispose();
    },
  };
}
