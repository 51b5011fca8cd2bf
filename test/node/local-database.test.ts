// The local database: what `npm start` applies to it, and what it asks before.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { cairn } from "../../packages/client/src/index.ts";
import { accountModelProblem, requireLocalModels } from "../../packages/dev/account-models.ts";
import { CannotStart } from "../../packages/dev/cannot-start.ts";
import {
  databaseFile,
  databaseFiles,
  databaseId,
  moveFormerDatabase,
} from "../../packages/dev/database-file.ts";
import {
  developmentToken,
  freePort,
  hasMigrations,
  startLocalServer,
} from "../../packages/dev/local-server.ts";
import { run } from "./run.ts";

const folder = mkdtempSync(join(tmpdir(), "cairn-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("has each migration once, by wrangler's own notes, and is known to have them", async () => {
  expect(hasMigrations(folder)).toBe(false);
  for (let times = 0; times < 2; times++) {
    const applying = run("packages/dev/local-database.ts", [folder]);
    expect([await applying.ended, applying.output.stderr]).toEqual([0, ""]);
    expect(hasMigrations(folder)).toBe(true);
  }
  const wrangler = ["d1", "migrations", "list", "DB", "--local", "--persist-to", folder];
  const listing = run("node_modules/wrangler/bin/wrangler.js", wrangler, { CI: "true" });
  expect(await listing.ended).toBe(0);
  expect(listing.output.stdout).toContain("No migrations to apply");
});

describe("a database that was kept under another id", () => {
  /** A state whose database is under `id`, with a row that is in its log alone, as after a kill. */
  function stateOf(...ids: string[]): string {
    const state = mkdtempSync(join(folder, "state-"));
    for (const id of ids) {
      const file = databaseFile(state, id);
      mkdirSync(dirname(file), { recursive: true });
      const building = new DatabaseSync(`${file}.building`);
      building.exec(
        `PRAGMA journal_mode = WAL; CREATE TABLE d1_migrations (name TEXT); CREATE TABLE kept (text TEXT);
         PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO d1_migrations VALUES ('0001.sql'); INSERT INTO kept VALUES ('${id}')`,
      );
      for (const part of ["", "-wal", "-shm"]) copyFileSync(`${file}.building${part}`, `${file}${part}`);
      building.close();
      rmSync(`${file}.building`);
    }
    return state;
  }
  const keptIn = (file: string) => {
    const database = new DatabaseSync(file, { readOnly: true });
    const { text } = database.prepare("SELECT text FROM kept").get() ?? {};
    database.close();
    return text;
  };
  /** The one of wrangler.toml before it had none. */
  const FORMER = "00000000-0000-0000-0000-000000000000";

  it("is found and moved, with what its log holds, and nothing is moved twice", () => {
    const state = stateOf(FORMER);
    expect(moveFormerDatabase(state)).toBe(true);
    expect(databaseFiles(state)).toEqual([databaseFile(state, "DB")]);
    expect(keptIn(databaseFile(state, "DB"))).toBe(FORMER);
    expect(moveFormerDatabase(state)).toBe(false);
  });

  it("moves back where wrangler.toml gets an id, as from the deploy button", () => {
    const state = stateOf("DB");
    const toml = '[[d1_databases]]\nbinding = "DB"\ndatabase_id = "abc"\n';
    expect(moveFormerDatabase(state, databaseId(toml))).toBe(true);
    expect(keptIn(databaseFile(state, "abc"))).toBe("DB");
  });

  it("stays where there is one of this id, and where two others could be it, which is said", () => {
    const [both, two] = [stateOf(FORMER, "DB"), stateOf("a", "b")];
    expect(moveFormerDatabase(both)).toBe(false);
    expect(existsSync(databaseFile(both, FORMER))).toBe(true);
    expect(() => moveFormerDatabase(two)).toThrow(CannotStart);
    expect(databaseFiles(two)).toHaveLength(2);
  });

  it("serves what it stored before, by the real server", async () => {
    const state = mkdtempSync(join(folder, "state-"));
    const first = await startLocalServer({ port: await freePort(), state });
    const memory = (url: string, token: string) => cairn({ url, token });
    const token = await developmentToken("*");
    await memory(first.url, token).memories.remember("alice", { text: "The bicycle is in the cellar." });
    await first.stop();
    const file = databaseFile(state, "DB");
    // A state of before: under the former id, with its log.
    for (const part of ["", "-wal", "-shm"])
      if (existsSync(`${file}${part}`)) renameSync(`${file}${part}`, `${databaseFile(state, FORMER)}${part}`);
    const second = await startLocalServer({ port: await freePort(), state });
    try {
      const { items } = await memory(second.url, token).memories.list("alice", {});
      expect(items.map(({ text }) => text)).toEqual(["The bicycle is in the cellar."]);
      expect(databaseFiles(state)).toEqual([file]);
    } finally {
      await second.stop();
    }
  });
});

describe("a model of Workers AI on this machine", () => {
  it.each([
    [
      { EMBEDDINGS_MODEL: "@cf/baai/bge-m3" },
      /^EMBEDDINGS_MODEL is @cf\/baai\/bge-m3.*in an account.*EMBEDDINGS_URL/,
    ],
    [{ LLM_MODEL: "@cf/meta/llama" }, /^LLM_MODEL is @cf\/meta\/llama.*LLM_URL/],
    [{ LLM_MODEL: "@hf/x" }, /^LLM_MODEL/],
    [{ RERANKER_MODEL: "@cf/baai/bge-reranker-base" }, /^RERANKER_MODEL/],
  ])("is refused before anything starts: %j", (vars, problem) => {
    expect(accountModelProblem(vars)).toMatch(problem);
    expect(() => requireLocalModels(vars)).toThrow(CannotStart);
  });

  it("is let through where an endpoint serves it, as is every other model", () => {
    const endpoint = { EMBEDDINGS_MODEL: "@cf/baai/bge-m3", EMBEDDINGS_URL: "https://api.test/v1" };
    for (const vars of [{}, endpoint, { EMBEDDINGS_MODEL: "mini-en-256" }, { LLM_MODEL: "none" }])
      expect(accountModelProblem(vars)).toBeNull();
  });
});
