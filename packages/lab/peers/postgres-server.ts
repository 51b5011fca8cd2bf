// A private PostgreSQL over TCP on loopback, in a folder that is removed when it stops.
import { execFileSync } from "node:child_process";
import { chownSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { CONNECTIONS } from "../bench/load.ts";
import { commandPath, freePort, startServer, temporaryFolder } from "./peer.ts";

/** Debian keeps the programs outside of the PATH. */
const initdb = commandPath("initdb") ?? globSync("/usr/lib/postgresql/*/bin/initdb").at(-1);

export const missingPostgres = (): string | null =>
  initdb === undefined ? "apt-get install postgresql" : null;

export type PostgresServer = {
  options: pg.PoolConfig;
  pool: pg.Pool;
  hasPgvector: boolean;
  stop: () => Promise<void>;
};

export async function startPostgres(): Promise<PostgresServer> {
  if (initdb === undefined) throw new Error("PostgreSQL is not installed");
  const folder = temporaryFolder();
  const data = join(folder, "data");
  const as = process.getuid?.() === 0 ? unprivileged() : undefined;
  if (as !== undefined) chownSync(folder, as.uid, as.gid);
  const run = { ...as, cwd: folder };
  execFileSync(initdb, ["-D", data, "-U", "bench", "-A", "trust", "-E", "UTF8", "--locale=C"], {
    ...run,
    stdio: "ignore",
  });
  const port = await freePort();
  const server = startServer(
    join(dirname(initdb), "postgres"),
    ["-D", data, "-p", String(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"],
    run,
  );
  const options = { host: "127.0.0.1", port, user: "bench", database: "postgres", max: CONNECTIONS };
  const pool = new pg.Pool(options);
  await untilReady(pool);
  const { rowCount } = await pool.query("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'");
  return {
    options,
    pool,
    hasPgvector: rowCount === 1,
    stop: async () => {
      await pool.end();
      await server.stop();
    },
  };
}

/** PostgreSQL refuses to run as root. */
function unprivileged(): { uid: number; gid: number } {
  return { uid: idOf("-u"), gid: idOf("-g") };
}

const idOf = (which: "-u" | "-g"): number =>
  Number(execFileSync("id", [which, "postgres"], { encoding: "utf8" }));

async function untilReady(pool: pg.Pool): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await pool.query("SELECT 1");
      return;
    } catch (error) {
      if (tries === 100) throw error;
      await sleep(100);
    }
  }
}
