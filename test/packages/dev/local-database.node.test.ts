// The local database: what `npm start` applies to it, and what it asks before.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { cairn } from "../../../packages/client/src/index.ts";
import { accountModelProblem, requireLocalModels } from "../../../packages/dev/account-models.ts";
import { CannotStart } from "../../../packages/dev/cannot-start.ts";
import {
  databaseFile,
  databaseFiles,
  databaseId,
  moveFormerDatabase,
} from "../../../packages/dev/database-file.ts";
import {
  developmentToken,
  freePort,
  hasMigrations,
  startLocalServer,
} from "../../../packages/dev/local-server.ts";
import { run } from "../../node/run.ts";

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
         PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO d1_migrations VALUES ('0001_tables.sql'); INSERT INTO kept VALUES ('${id}')`,
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
  /** The message with which the move stops. */
  function refusalOf(state: string): string {
    try {
      moveFormerDatabase(state);
    } catch (error) {
      if (error instanceof CannotStart) return error.message;
      throw error;
    }
    throw new Error("it was to stop");
  }
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
    expect(refusalOf(two)).toContain(`${databaseFile(two, "a")}\n`);
    expect(refusalOf(two)).toContain(`mv FILE* ${two}/aside/`);
    expect(databaseFiles(two)).toHaveLength(2);
  });

  it("moves with its log where the other one was moved aside as the message says", () => {
    const state = stateOf("a", "b");
    mkdirSync(join(state, "aside"));
    for (const part of ["", "-wal", "-shm"])
      renameSync(databaseFile(state, "a") + part, join(state, "aside", `a${part}`));
    expect(moveFormerDatabase(state)).toBe(true);
    expect(keptIn(databaseFile(state, "DB"))).toBe("b");
  });

  it.each(["-wal", "-shm", "-journal"])("stays where a foreign %s lies beside its new name", (part) => {
    const state = stateOf(FORMER);
    writeFileSync(databaseFile(state, "DB") + part, "of another database");
    expect(refusalOf(state)).toContain(databaseFile(state, "DB") + part);
    expect(keptIn(databaseFile(state, FORMER))).toBe(FORMER);
  });

  it.each([
    ["reads", "BEGIN; SELECT text FROM kept"],
    ["has it open, and does nothing", "SELECT text FROM kept"],
  ])("stays while another program %s", (_, sql) => {
    const state = stateOf(FORMER);
    const other = new DatabaseSync(databaseFile(state, FORMER));
    other.exec(sql);
    expect(refusalOf(state)).toContain("another program has it open");
    expect(existsSync(databaseFile(state, "DB"))).toBe(false);
    other.close();
    expect(moveFormerDatabase(state)).toBe(true);
    expect(keptIn(databaseFile(state, "DB"))).toBe(FORMER);
  });

  it.each([
    ["no migrations", ""],
    ["no rows", "INSERT INTO d1_migrations VALUES ('0001_tables.sql')"],
    [
      "what the Worker notes of itself",
      "INSERT INTO d1_migrations VALUES ('0001_tables.sql'); INSERT INTO deployment VALUES (1)",
    ],
  ])("is not hidden by one under the new name that has %s", (_, rows) => {
    const state = stateOf(FORMER);
    const empty = new DatabaseSync(databaseFile(state, "DB"));
    empty.exec(`CREATE TABLE d1_migrations (name TEXT); CREATE TABLE deployment (shards INTEGER); ${rows}`);
    empty.close();
    for (const id of [FORMER, "DB"]) expect(refusalOf(state)).toContain(databaseFile(state, id));
    rmSync(databaseFile(state, "DB"));
    expect(moveFormerDatabase(state)).toBe(true);
  });

  it("stops the start where it cannot be read, and leaves another program's alone", () => {
    const [state, foreign] = [stateOf(FORMER), stateOf()];
    for (const part of ["-wal", "-shm"]) rmSync(databaseFile(state, FORMER) + part);
    writeFileSync(databaseFile(state, FORMER), "no database, but 4 KB of it ".repeat(200));
    expect(refusalOf(state)).toMatch(/cannot be read/);
    mkdirSync(dirname(databaseFile(foreign, "x")), { recursive: true });
    const other = new DatabaseSync(databaseFile(foreign, "x"));
    other.exec("CREATE TABLE d1_migrations (name); INSERT INTO d1_migrations VALUES ('0001_orders.sql')");
    other.close();
    expect(moveFormerDatabase(foreign)).toBe(false);
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
