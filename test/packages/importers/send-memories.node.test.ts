// `npm run import -- --from SOURCE` with memories, against a server.
import { describe, expect, it } from "vitest";
import { freePort } from "../../../packages/dev/local-server.ts";
import { command, written } from "./command.ts";
import * as exports from "./exports/index.ts";
import { Proxied } from "./proxied.ts";

const cairn = new Proxied();

describe("memories", () => {
  const row = (id: string, text: string, day = 1) => ({
    id,
    memory: text,
    user_id: "mia",
    created_at: "2025-01-01T00:00:00Z",
    updated_at: `2025-01-0${day}T00:00:00Z`,
  });

  it("of several users go to each", async () => {
    const { code, stdout } = await cairn.run([
      "--from=mem0",
      written(exports.mem0.platform),
      "--scope",
      "trip",
    ]);
    expect(code).toBe(0);
    expect(stdout).toContain("Found for 2 users: 2 memories (2 facts)");
    expect(stdout).toContain("  1 × no user: name one with --user, or a field with --user-field (m4)");
    expect((await cairn.memory.memories.list("bob", { scope: ["trip"] })).items).toMatchObject([
      { text: "Bob plays the cello 🎻", externalId: "mem0:m2" },
    ]);
  });

  it("that the source changed replace theirs, unless they were changed here later", async () => {
    const file = (...rows: unknown[]) => ["--from", "mem0", written(rows)];
    await cairn.run(file(row("1", "tea"), row("2", "cats"), row("3", "rain")));
    const [cats] = (await cairn.memory.memories.list("mia", { externalId: ["mem0:2"] })).items;
    await cairn.memory.memories.update("mia", cats?.id ?? "", { text: "dogs" });
    const { stdout } = await cairn.run(file(row("1", "coffee", 2), row("2", "birds", 2), row("3", "rain")));
    expect(stdout).toContain("Memories: 1 changed, 2 there already.");
    expect(await cairn.textsOf("mia")).toEqual(["coffee", "dogs", "rain"]);
  });

  it("that contradict what a user changed here wait in quarantine", async () => {
    const file = (...rows: unknown[]) => ["--from", "mem0", written(rows), "--user", "quin"];
    await cairn.run(file(row("1", "tea")));
    const [tea] = (await cairn.memory.memories.list("quin")).items;
    expect(tea?.trust).toBe("import");
    await cairn.memory.memories.update("quin", tea?.id ?? "", { text: "no tea" });
    const later = { ...row("1", "coffee"), updated_at: "2100-01-01T00:00:00Z" };
    expect((await cairn.run(file(later))).stdout).toContain("Memories: 1 in quarantine.");
    expect(await cairn.textsOf("quin")).toEqual(["no tea"]);
    expect((await cairn.run(file(later))).stdout).toContain("Memories: 1 there already.");
  });

  it("that were refused are named, and the others are stored", async () => {
    await cairn.memory.memories.remember("nora", {
      kind: "procedure",
      title: "t",
      text: "x",
      externalId: "mem0:1",
    });
    const rows = [row("0", "a"), row("1", "b"), row("2", "c")];
    // The id belongs to a memory that is not listed: it is taken.
    cairn.answer = (call) =>
      call.startsWith("GET /v1/users/nora/memories") ? { status: 200, body: { items: [] } } : undefined;
    const { code, stdout } = await cairn.run(["--from", "mem0", written(rows), "--user", "nora"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /Memories: 2 created, 1 failed\.\nNot imported:\n {2}1 × external_id_taken.*\(mem0:1\)/,
    );
    expect(await cairn.textsOf("nora")).toEqual(["a", "c", "x"]);
  });

  it("are continued by a second run after a failure in the middle", async () => {
    const rows = Array.from({ length: 250 }, (_, i) => row(`n${i}`, `memory number ${i}`));
    const args = ["--from", "mem0", written(rows), "--user", "olga"];
    let batches = 0;
    cairn.answer = (call) =>
      call.endsWith("/batch") && ++batches > 1
        ? { status: 403, body: { error: { code: "memory_quota", message: "full" } } }
        : undefined;
    const failed = await cairn.run(args);
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("Memories: 100 created.") });
    expect(failed.stderr).toBe(
      "POST /v1/users/olga/memories/batch: memory_quota: full\nThe import is incomplete. Repeat the command to continue it.\n",
    );
    cairn.answer = () => undefined;
    expect((await cairn.run(args)).stdout).toContain("Memories: 150 created, 100 there already.");
    const texts = await cairn.textsOf("olga");
    expect(new Set(texts).size).toBe(250);
  });
});

it("a server that goes away in the middle of an import loses nothing", async () => {
  const args = ["--from", "zep", written(exports.zep.threads), written(exports.zep.graph), "--user", "paul"];
  cairn.answer = (call) => (call.includes("/memories") ? "gone" : undefined);
  const failed = await cairn.run(args);
  expect(failed.code).toBe(1);
  expect(failed.stdout).toContain("Threads: 1 created.");
  expect(failed.stderr).toContain("network: ");
  cairn.answer = () => undefined;
  const { code, stdout } = await cairn.run(args);
  expect(code).toBe(0);
  expect(stdout).toContain("Memories: 5 created.\nThreads: 1 there already.\n");
  // A fact of the past stays one: it is answered for its time alone.
  const facts = await cairn.memory.memories.list("paul", { validAt: Date.UTC(2025, 0, 2), kind: ["fact"] });
  expect(facts.items.map(({ text }) => text)).toContain("Alice lives in Porto");
  const before = await cairn.stored("paul");
  expect((await cairn.run(args)).stdout).toContain("Memories: 5 there already.");
  expect(await cairn.stored("paul")).toBe(before);
});

it("a wrong token, and a server that is not there, are named", async () => {
  const args = ["--from", "mem0", written(exports.mem0.list)];
  const wrong = await command(args, { CAIRN_URL: cairn.url, CAIRN_TOKEN: "x.y" });
  expect(wrong).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^GET \/v1\/users\/alice\/memories: invalid_token/),
  });
  const away = await command(args, {
    CAIRN_URL: `http://127.0.0.1:${await freePort()}`,
    CAIRN_TOKEN: cairn.token,
  });
  expect(away).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Cannot connect to http://127.0.0.1"),
  });
});
