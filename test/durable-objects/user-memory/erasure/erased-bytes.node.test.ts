// The bytes that an erasure leaves in the files of a real server.
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import {
  developmentToken,
  freePort,
  type LocalServer,
  startLocalServer,
} from "../../../../packages/dev/local-server.ts";

const state = mkdtempSync(join(tmpdir(), "cairn-test-"));
let server: LocalServer | undefined;
afterAll(async () => {
  await server?.stop();
  rmSync(state, { recursive: true, force: true });
});

/** The files of SQLite whose path has this in it; SQLite's logs are files of their own. */
function filesOf(where: string): string[] {
  const files = readdirSync(state, { recursive: true, encoding: "utf8" }).filter(
    (name) => name.includes(where) && /\.sqlite(-wal)?$/.test(name) && !name.includes("metadata"),
  );
  expect(files.length).toBeGreaterThan(0);
  return files.map((name) => join(state, name));
}

/** Writes the logs into the files that they belong to. */
function checkpoint(where: string): void {
  for (const name of filesOf(where).filter((one) => one.endsWith(".sqlite"))) {
    const database = new DatabaseSync(name);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close();
  }
}

/** Counts the different texts in these files that begin with a mark. */
function readable(where: string, mark: string): number {
  const found = filesOf(where).flatMap((name) =>
    Array.from(readFileSync(name, "latin1").matchAll(new RegExp(`${mark}\\d+Z`, "g")), ([text]) => text),
  );
  return new Set(found).size;
}

it("leaves no text of an erased user in the object's file, and few in D1's, of 2,000 messages and 400 memories", async () => {
  const port = await freePort();
  server = await startLocalServer({ port, state });
  const { url } = server;
  const token = await developmentToken("alice");
  const call = async (path: string, json?: object, method = json === undefined ? "GET" : "POST") => {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(`${url}/v1${path}`, {
      method,
      headers,
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    expect(answer.status).toBeLessThan(300);
    return (await answer.json()) as { id: string; status: string };
  };
  const filler = "and tells of rivers, herons and old trains. ".repeat(10);
  const { id: thread } = await call("/users/alice/threads", {});
  for (let n = 0; n < 2000; n += 500)
    await call(`/threads/${thread}/messages`, {
      messages: Array.from({ length: 500 }, (_, i) => ({ role: "user", content: `said${n + i}Z ${filler}` })),
    });
  for (let n = 0; n < 400; n += 100)
    await call("/users/alice/memories/batch", {
      memories: Array.from({ length: 100 }, (_, i) => ({ text: `known${n + i}Z ${filler}` })),
    });
  expect(readable("UserMemory", "said")).toBe(2000);
  const { id } = await call("/users/alice", undefined, "DELETE");
  while ((await call(`/erasures/${id}`)).status !== "done") await sleep(100);
  await server.stop();
  expect(readable("UserMemory", "said")).toBe(0);
  expect(readable("UserMemory", "known")).toBe(0);
  checkpoint("UserMemory");
  for (const name of filesOf("UserMemory")) expect(statSync(name).size).toBeLessThan(500_000);
  checkpoint("d1");
  expect(readable("d1", "known")).toBeLessThan(20);
});
