// A private Redis that appends to a file and flushes it every second, over TCP on loopback.
import { createClient } from "redis";
import { key, message, value } from "../bench/operations.ts";
import {
  ENTRIES,
  freePort,
  commandPath,
  PAGE,
  type Peer,
  startServer,
  type Started,
  temporaryFolder,
  THREAD,
} from "./peer.ts";

export const redis: Peer = {
  name: "Redis (append-only file)",
  missing: () => (commandPath("redis-server") === undefined ? "apt-get install redis-server" : null),
  start,
};

async function start(): Promise<Started> {
  const folder = temporaryFolder();
  const port = await freePort();
  const options = {
    save: "",
    appendonly: "yes",
    appendfsync: "everysec",
    dir: folder,
    bind: "127.0.0.1",
    port,
  };
  const server = startServer(
    "redis-server",
    Object.entries(options).flatMap(([name, set]) => [`--${name}`, String(set)]),
  );
  const client = createClient({ socket: { host: "127.0.0.1", port } });
  // Refused until the server listens: the client tries again.
  client.on("error", () => {});
  await client.connect();
  const append = (thread: string, i: number) => client.rPush(thread, JSON.stringify(message(i)));
  const put = (user: string, i: number) => client.set(`${user}:${key(i % ENTRIES)}`, value(i));
  for (let i = 0; i < THREAD; i++) await append("thread", i);
  for (let i = 0; i < ENTRIES; i++) {
    await put("read", i);
    await client.zAdd("read:keys", { score: 0, value: key(i) });
  }
  return {
    lacks:
      "no search, no token; may lose a second of writes; its list reads a sorted set of the keys that its put does not keep",
    operations: {
      "append of one message": (i) => append("growing", i),
      "last 50 of 1,000": async () =>
        (await client.lRange("thread", -PAGE, -1)).map((text) => JSON.parse(text) as unknown),
      "KV put": (i) => put("put", i),
      "KV get": (i) => client.get(`read:${key(i % ENTRIES)}`),
      // SCAN would walk the whole store.
      "list 50 of 1,000": async (i) => {
        const prefix = `group-${i % (ENTRIES / PAGE)}/`;
        const keys = await client.zRangeByLex("read:keys", `[${prefix}`, `[${prefix}\u{10ffff}`, {
          LIMIT: { offset: 0, count: PAGE },
        });
        return client.mGet(keys.map((name) => `read:${name}`));
      },
    },
    stop: async () => {
      client.destroy();
      await server.stop();
    },
  };
}
