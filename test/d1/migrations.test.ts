// A database that has had a later migration before an earlier one, as one of a branch is that was joined.
import { applyD1Migrations } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";

// No other test has this database.
const DB = env.TEST_DATABASE;

it("gets 0007 where it has 0008 already, with the users of its memories and threads", async () => {
  const applied = env.MIGRATIONS.filter(({ name }) => name < "0007" || name.startsWith("0008"));
  expect(applied).toHaveLength(7);
  await applyD1Migrations(DB, applied);
  const thread = `INSERT INTO threads (id, user_hash, user_id, title, created_at, updated_at) VALUES (?, ?, ?, '', 1, 1)`;
  await DB.batch([
    DB.prepare("INSERT INTO memory_writes (user_hash, seq) VALUES ('h', 7)"),
    DB.prepare(thread).bind("h.1", "h", "alice"),
    DB.prepare(thread).bind("n.1", "n", null),
  ]);
  await applyD1Migrations(DB, env.MIGRATIONS);
  const { results } = await DB.prepare("SELECT * FROM users").all();
  expect(results).toEqual([{ user_hash: "h", user_id: "alice", epoch: 0 }]);
  expect(await DB.prepare("SELECT * FROM memory_writes").all()).toMatchObject({
    results: [{ user_hash: "h", seq: 7, erased_up_to: 0, epoch: 0 }],
  });
});
