// `npm run bench -- --overview`: what D1 does for each call of the console's overview, in a tenant with a million memories.
import { mintToken } from "#domain/token.ts";
import { printTable } from "../table.ts";
import { totalOf } from "./counts.ts";
import { type Call, Client } from "./load.ts";
import { type Server, startCairn } from "./servers.ts";
import { median } from "./summary.ts";

const get = (path: string): Call => ({ method: "GET", path, status: 200 });
/** The calls of one visit of the overview. */
const CALLS = [
  "/health",
  "/v1/statistics?days=30",
  "/metrics",
  "/v1/users?limit=100",
  "/v1/prompt-cache/stats?limit=1000",
  "/v1/reindex",
];
const [VISITS, DAYS, DAY_MS] = [5, 90, 86_400_000];
/** Memories of a user and of a thread, and how many memories have one that waits for review. */
const [OF_USER, OF_THREAD, WAITING] = [1_000, 10, 10_000];
/** Rows that one statement fills in. */
const SLICE = 100_000;
/** Rows of D1 that one visit may read: a page of users, and what waits. More is a scan. */
const MOST = 1_000;

/** Prints the rows and the time of D1, and throws if a visit reads more than a page. */
export async function measureOverview(memories: number): Promise<void> {
  const server = await startCairn({ counting: true, evicts: false });
  const token = await mintToken(
    server.secret,
    { user: "*", scope: ["read", "write", "cache", "admin"], ttlMs: DAY_MS },
    Date.now(),
  );
  const client = new Client({ ...server, token });
  try {
    await fill(server, memories);
    const rows: string[][] = [];
    let [read, ms] = [0, 0];
    // The first one counts a large tenant, as the cron does every six hours.
    for (const [name, calls, visits] of [
      ["the first count", ["/v1/statistics?days=30"], 1],
      ...CALLS.map((path) => [`\`${path.replace(/\?.*/, "")}\``, [path], VISITS] as const),
    ] as const) {
      const each: { read: number; ms: number }[] = [];
      for (let i = 0; i < visits; i++) each.push(await counted(client, calls));
      const [ofRead, ofMs] = [median(each.map((one) => one.read)), median(each.map((one) => one.ms))];
      rows.push([name, ofRead.toLocaleString("en-US"), ofMs.toFixed(1)]);
      if (visits > 1) [read, ms] = [read + ofRead, ms + ofMs];
    }
    rows.push(["**a visit**", read.toLocaleString("en-US"), ms.toFixed(1)]);
    console.log(`\nThe console's overview among ${memories.toLocaleString("en-US")} memories:\n`);
    printTable(["call", "rows read, D1", "ms of D1"], rows);
    if (read > MOST) throw new Error(`a visit of the overview reads ${read} rows of D1`);
  } finally {
    await client.close();
    await server.stop();
  }
}

async function counted(client: Client, paths: readonly string[]): Promise<{ read: number; ms: number }> {
  const before = await totalOf(client);
  for (const path of paths) await client.call(get(path));
  const after = await totalOf(client);
  return { read: after.d1Read - before.d1Read, ms: after.d1Ms - before.d1Ms };
}

/** SQL of the user's hash of the row `i`. */
const user = (of: number): string => `printf('user-%016d', i / ${of})`;

/** Users, threads and memories of the last days, straight into D1. */
async function fill({ database }: Server, memories: number): Promise<void> {
  const from = Date.now() - DAYS * DAY_MS;
  const put = async (count: number, sql: string): Promise<void> => {
    for (let at = 0; at < count; at += SLICE) {
      const last = Math.min(at + SLICE, count) - 1;
      const numbers = `WITH RECURSIVE n(i) AS (SELECT ${at} UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
      await database.prepare(`${numbers} ${sql}`).run();
    }
  };
  const created = (count: number) => `${from} + i * ${Math.floor((DAYS * DAY_MS) / count)}`;
  const users = Math.ceil(memories / OF_USER);
  await put(users, `INSERT INTO users (user_hash, user_id) SELECT ${user(1)}, printf('user %d', i) FROM n`);
  const threads = Math.ceil(memories / OF_THREAD);
  await put(
    threads,
    `INSERT INTO threads (id, user_hash, title, created_at, updated_at)
     SELECT printf('thread-%d', i), ${user(OF_USER / OF_THREAD)}, '', ${created(threads)}, ${created(threads)} FROM n`,
  );
  await put(
    memories,
    `INSERT INTO memories (user_hash, id, version, user_id, kind, status, text, tags, trust, dedupe_key, created_at, updated_at,
       valid_from, recorded_at)
     SELECT ${user(OF_USER)}, printf('memory-%d', i), i % ${OF_USER} + 1, printf('user %d', i / ${OF_USER}), 'fact',
       IIF(i % ${WAITING} = 0, 'quarantined', 'active'), printf('Note %d, about this and that', i), '[]', 'user',
       printf('text %d', i), ${created(memories)}, i, i, i FROM n`,
  );
}
