import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { userHash } from "../src/domain/ids.ts";
import type { Erasure } from "../src/domain/schema/erasure.ts";
import { call } from "./call.ts";
import { databaseOf } from "./databases.ts";
import { clock, control } from "./doubles/control.ts";

export const objectOf = async (user: string) => env.USER_MEMORY.getByName(await userHash(user));
export const eraseUser = (user: string) =>
  call(`/v1/users/${encodeURIComponent(user)}`, { method: "DELETE" });
export const eraseSome = (user: string, json: object) => call(`/v1/users/${user}/erasures`, { json });
export const erasure = async (id: string): Promise<Erasure> => (await call(`/v1/erasures/${id}`)).body;

/** Rings a user's alarm by the tests' clock until the erasure is done. */
export async function erased(user: string, id: string): Promise<Erasure> {
  for (let rung = 0; rung < 200; rung++) {
    const now = await erasure(id);
    if (now.status === "done") return now;
    await ring(user);
  }
  throw new Error(`not erased: ${JSON.stringify(await erasure(id))}`);
}

/** Rings the alarm of a user's object when it is due, at once by the tests' clock. */
export async function ring(user: string): Promise<void> {
  const object = await objectOf(user);
  const due = await runInDurableObject(object, (_, { storage }) => storage.getAlarm());
  if (due !== null) control.clockAt = Math.max(clock(), due);
  await runDurableObjectAlarm(object);
}

/** The tables of a user's object that have rows, with how many. */
export async function tablesOf(user: string): Promise<Record<string, number>> {
  return runInDurableObject(await objectOf(user), (_, { storage: { sql } }) => {
    const names = sql
      .exec<{ name: string }>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%words%_%'",
      )
      .toArray()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith("sqlite_") && !name.startsWith("_cf"));
    const counted = names.map((name) => [
      name,
      sql.exec<{ n: number }>(`SELECT COUNT(*) AS n FROM ${name}`).one().n,
    ]);
    return Object.fromEntries(counted.filter(([, n]) => n !== 0)) as Record<string, number>;
  });
}

/** Rows of the user's in each table of D1. */
export async function rowsOf(user: string): Promise<Record<"memories" | "threads" | "users", number>> {
  const hash = await userHash(user);
  const database = await databaseOf(user);
  const counted = await database.batch<{ n: number }>(
    ["memories", "threads", "users"].map((table) =>
      database.prepare(`SELECT COUNT(*) AS n FROM ${table} WHERE user_hash = ?`).bind(hash),
    ),
  );
  const [memories = -1, threads = -1, users = -1] = counted.map(({ results }) => results[0]?.n);
  return { memories, threads, users };
}
